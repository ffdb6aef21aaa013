# The framework's own texts, which it has in English and German only.

skep-missing = يرجى ملء هذا الحقل.
skep-repeated = تُنتظر قيمة واحدة هنا، ووصلت عدة قيم.
skep-too-short = هذا قصير جدا: { $min } أحرف على الأقل.
skep-too-long = هذا طويل جدا: { $max } حرفا على الأكثر، وهذه { $length }.
skep-not-one-line = لا تصلح هنا فواصل الأسطر ورموز التحكم.
skep-control-characters = لا تصلح هنا رموز التحكم.
skep-not-email = هذا ليس عنوان بريد إلكتروني: شكله name@example.org.
skep-not-url = هذا ليس عنوان ويب: يبدأ بـ https:// أو http://.
skep-not-number = هذا ليس عددا.
skep-not-whole = هذا ليس عددا صحيحا.
skep-too-small = هذا قليل جدا: الحد الأدنى { $min }.
skep-too-large = هذا كثير جدا: الحد الأقصى { $max }.
skep-too-precise = عدد المنازل العشرية { $places } على الأكثر.
skep-not-date = هذا ليس تاريخا: شكله 2026-12-31.
skep-not-time = هذا ليس وقتا: شكله 18:30.
skep-not-date-time = هذا ليس تاريخا ووقتا: شكله 2026-12-31T18:30.
skep-not-choice = يرجى اختيار أحد الخيارات المعروضة.
skep-file-too-large = هذا الملف كبير جدا: { $limit } على الأكثر.
skep-file-size =
    { $unit ->
        [byte] { $count } بايت
        [kilobyte] { $count } كيلوبايت
        [megabyte] { $count } ميغابايت
       *[gigabyte] { $count } غيغابايت
    }
skep-file-kind = لا يصلح ملف من هذا النوع هنا، بل: { $accept }.
skep-expected = هذا لا يصلح. المنتظر: { $expected }.
skep-expired = عُرض هذا النموذج منذ وقت طويل. يرجى مراجعته وإرساله مرة أخرى.
skep-no-cookie = لم يرسل متصفحك ملف تعريف الارتباط الذي يحتاج إليه هذا النموذج.
skep-spent = أُرسل هذا النموذج من قبل، ويُقبل مرة واحدة فقط.
skep-conflict = غيّر شخص آخر هذا أثناء تحريرك، ولذلك لم يُحفظ شيء. يرجى المراجعة: الإرسال مرة أخرى يستبدل ما هو موجود الآن.
skep-changed = غيّر شخص آخر هذا إلى: { $now }
    .empty = غيّر شخص آخر هذا.
skep-time-left-out = تُقدَّم الساعة في ذلك اليوم، فلا يأتي الوقت { $from }: يكون { $to }.
skep-time-twice = تُؤخَّر الساعة في ذلك اليوم، فيأتي الوقت { $time } مرتين: أيهما المقصود؟
skep-error =
    { $status ->
        [401] يجب تسجيل الدخول لرؤية هذا.
        [403] لا يُسمح لك برؤية هذا.
        [404] لا توجد صفحة بهذا العنوان.
        [500] حدث خطأ لدينا، وقد سُجّل.
        [503] الخادم مشغول. يرجى المحاولة بعد قليل.
       *[other] تعذرت الاستجابة للطلب.
    }
    .title =
    { $status ->
        [403] غير مسموح
        [404] غير موجود
       *[other] خطأ
    }
skep-input =
    { $kind ->
        [missing] القيمة { $name } مفقودة، والمنتظر: { $expected }
        [repeated] القيمة { $name } مذكورة أكثر من مرة
        [invalid] القيمة { $name }: لا يصلح { $value }، والمنتظر: { $expected }
        [invalid-secret] القيمة { $name } لا تصلح، والمنتظر: { $expected }
        [not-offered] القيمة { $name }: لا يُعرض { $value } هنا
        [secret-not-offered] القيمة { $name } لا تُعرض هنا
        [incomplete] ينقص العنوان: { $name }
        [not-utf8] القيمة { $name } ليست UTF-8
        [not-json] المحتوى ليس JSON (السطر { $name }، العمود { $value })
        [missing-member] الحقل { $name } مفقود.
       *[unfit] هذه القيمة لا تصلح ({ $expected }).
    }
skep-wanted =
    { $kind ->
        [whole] عدد صحيح من { $first } إلى { $last }
        [number] عدد
        [bool] true أو false
        [date] تاريخ مثل 2026-12-31
        [time] وقت مثل 18:30
        [date-time] تاريخ ووقت مثل 2026-12-31T18:30
        [choice] { $first } أو { $last }
       *[other] { $last }
    }
skep-to-first-page = إلى الصفحة الأولى
