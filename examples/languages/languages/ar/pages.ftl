language-name = العربية

-site = مدرسة النحل
title = { -site }
welcome = أهلا بكم في { -site }
courses =
    { $count ->
        [zero] لا توجد دورات حاليا.
        [one] توجد دورة واحدة.
        [two] توجد دورتان.
        [few] توجد { $count } دورات.
        [many] توجد { $count } دورة.
       *[other] توجد { $count } دورة.
    }
to-course = { $name }، { $places ->
        [zero] لا أماكن شاغرة
        [one] مكان شاغر واحد
        [two] مكانان شاغران
        [few] { $places } أماكن شاغرة
        [many] { $places } مكانا شاغرا
       *[other] { $places } مكان شاغر
    }
spoken = اللغة
change = تغيير

enrol = تسجيل
    .hint = يظهر هذا الاسم على شهادتك.
your-name = الاسم
level = المستوى
level-beginner = مبتدئ
level-keeper = بضع سنوات مع النحل
course-full = دورة { $course } مكتملة يا { $name }.
enrolled = تم تسجيلك يا { $name }.
