language-name = English

-site = The bee school
title = { -site }
welcome = Welcome to { -site }
courses =
    { $count ->
        [0] There are no courses at the moment.
        [one] There is one course.
       *[other] There are { $count } courses.
    }
to-course = { $name }, { $places ->
        [one] one free place
       *[other] { $places } free places
    }
spoken = Language
change = Change

enrol = Enrol
    .hint = Your certificate shows this name.
your-name = Name
level = Level
level-beginner = Beginner
level-keeper = Some years with bees
course-full = { $course } is full, { $name }.
enrolled = You are in, { $name }.
