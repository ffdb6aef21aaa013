language-name = English
studio = Open Studio
to-the-content = To the content
main-menu = Main menu
spoken = Language
change = Change
times-in = Times are those of { $zone }.
demo-accounts =
    Accounts to try it out: ada@example.org is an admin, theo@example.org a trainer, mia@example.org and
    max@example.org are members. The password of all is “{ $password }”.

sign-in = Sign in
sign-out = Sign out
email = E-mail
name = Name
accounts = Accounts
role = Role
role-member = Member
role-trainer = Trainer
role-admin = Admin
not-yourself = You cannot change your own role.
change-password = Change the password
profile = Profile
zone = Time zone
token = Access token
token-hint = A program with it acts for you. What it can ask:
create-token = New token
token-made = Your token, which you see this once: { $token }

week = Week
week-of = Week of { $day }
weeks = Weeks
today = Today
pages = Pages
previous = Back
next = More
plan = Plan
plan-hint = One page over the JSON API.
courses = Courses
no-courses = There are no courses.
filter = Filter
title = Title
about = About
trainer = Trainer
level = Level
level-beginner = Beginners
level-advanced = Advanced
level-all = Everybody
minutes = Minutes
lasts = { $minutes } minutes
places = Places
places-free =
    { $count ->
        [0] full
        [one] one place free
       *[other] { $count } places free
    }
places-are-taken = { $count } places are taken already.
price = Price
free-of-charge = Free of charge
starts = Begins
which-time = Which of the two times
new-course = New course
edit = Edit
save = Save
saved = Saved.
back = Back
picture = Picture (PNG or JPEG)
unreadable-picture = This picture cannot be read, or has more than 50 million pixels.

my-bookings = My bookings
nothing-booked = You have booked nothing.
book = Book
booked = Booked
cancel = Cancel the booking
cancelled = The booking is cancelled.
waiting = waiting
waiting-place = You are number { $place } on the waiting list.
join-waiting-list = Join the waiting list
sign-in-to-book = Sign in to book
too-late = This course has begun.
you-are-in = You have a place.
you-wait = You are on the waiting list. We write to you when a place is free.

participants = Participants
no-participants = Nobody has booked yet.
came = Came
spreadsheet = As a spreadsheet

mail-booked = { $title }: your place
mail-waiting = { $title }: waiting list
mail-reminder = { $title } is tomorrow
see-you = See you soon!
to-the-course = To the course
