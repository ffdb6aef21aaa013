# The framework's own texts. An application replaces one by giving its id in a file of its own.

skep-missing = Please fill this in.
skep-repeated = One value is expected here, and several came.
skep-too-short =
    { $min ->
        [one] That is too short: at least one character.
       *[other] That is too short: at least { $min } characters.
    }
skep-too-long =
    { $max ->
        [one] That is too long: one character at most, and these are { NUMBER($length) }.
       *[other] That is too long: { $max } characters at most, and these are { NUMBER($length) }.
    }
skep-not-one-line = Line breaks and control characters do not fit in here.
skep-control-characters = Control characters do not fit in here.
skep-not-email = That is not an e-mail address: it looks like name@example.org.
skep-not-url = That is not an address of the web: it begins with https:// or http://.
skep-not-number = That is not a number.
skep-not-whole = That is not a whole number.
skep-too-small = That is too little: { $min } is the least.
skep-too-large = That is too much: { $max } is the most.
skep-too-precise =
    { $places ->
        [0] No digits behind the point fit in here.
        [one] At most one digit behind the point fits in here.
       *[other] At most { $places } digits behind the point fit in here.
    }
skep-not-date = That is not a date: it looks like 2026-12-31.
skep-not-time = That is not a time of day: it looks like 18:30.
skep-not-date-time = That is not a date with a time: it looks like 2026-12-31T18:30.
skep-not-choice = Please choose one of those offered.
skep-file-too-large = That file is too large: { $limit } at most.
skep-file-size =
    { $unit ->
        [byte]
            { $count ->
                [one] one byte
               *[other] { $count } bytes
            }
        [kilobyte] { $count } kB
        [megabyte] { $count } MB
       *[gigabyte] { $count } GB
    }
skep-file-kind = A file of this kind does not fit here, but these do: { $accept }.
skep-expected = This does not fit: { $expected } is expected.
skep-expired = This form was shown too long ago. Please look it through and send it again.
skep-no-cookie = Your browser sent no cookie of this site, which this form needs. Please allow it, and send this again.
skep-spent = This form was sent before, and is accepted once only. Nothing was done a second time.
skep-conflict = Somebody else changed this while you were editing it, so nothing was saved. Please look it through: sending it again replaces what is there now.
skep-changed = Somebody else changed this to: { $now }
    .empty = Somebody else changed this.
skep-time-left-out = The clocks go forward that day, and { $from } does not come: it is { $to } by then.
skep-time-twice = The clocks go back that day, and { $time } comes twice: which time do you mean?
skep-error =
    { $status ->
        [400] The request could not be understood.
        [401] You need to sign in to see this.
        [403] You may not see this.
        [404] There is no page at this address.
        [405] This page does not answer such requests.
        [408] The request took too long to arrive.
        [413] What was sent is too large.
        [414] The address is too long.
        [429] There were too many requests. Please try again in a moment.
        [431] The header of the request is too large.
        [500] Something went wrong on our side. It has been noted.
        [501] Something went wrong on our side. It has been noted.
        [502] Something went wrong on our side. It has been noted.
        [503] The server is busy. Please try again in a moment.
        [504] Something went wrong on our side. It has been noted.
        [505] Something went wrong on our side. It has been noted.
        [506] Something went wrong on our side. It has been noted.
        [507] Something went wrong on our side. It has been noted.
        [508] Something went wrong on our side. It has been noted.
        [510] Something went wrong on our side. It has been noted.
        [511] Something went wrong on our side. It has been noted.
       *[other] The request could not be answered.
    }
    .title =
    { $status ->
        [400] Bad Request
        [401] Unauthorized
        [402] Payment Required
        [403] Forbidden
        [404] Not Found
        [405] Method Not Allowed
        [406] Not Acceptable
        [407] Proxy Authentication Required
        [408] Request Timeout
        [409] Conflict
        [410] Gone
        [411] Length Required
        [412] Precondition Failed
        [413] Payload Too Large
        [414] URI Too Long
        [415] Unsupported Media Type
        [416] Range Not Satisfiable
        [417] Expectation Failed
        [418] I'm a teapot
        [421] Misdirected Request
        [422] Unprocessable Entity
        [423] Locked
        [424] Failed Dependency
        [425] Too Early
        [426] Upgrade Required
        [428] Precondition Required
        [429] Too Many Requests
        [431] Request Header Fields Too Large
        [451] Unavailable For Legal Reasons
        [500] Internal Server Error
        [501] Not Implemented
        [502] Bad Gateway
        [503] Service Unavailable
        [504] Gateway Timeout
        [505] HTTP Version Not Supported
        [506] Variant Also Negotiates
        [507] Insufficient Storage
        [508] Loop Detected
        [510] Not Extended
        [511] Network Authentication Required
       *[other] Error
    }
skep-input =
    { $kind ->
        [missing] { $name } is missing: { $expected } is expected
        [repeated] { $name } is given more than once
        [invalid] { $name }: { $value } is not { $expected }
        [invalid-secret] { $name }: this is not { $expected }
        [not-offered] { $name }: { $value } is not offered here
        [secret-not-offered] { $name }: this is not offered here
        [incomplete] the query needs { $name }
        [not-utf8] { $name } is not UTF-8
        [not-json] the body is not JSON: { $expected }
        [missing-member] missing field `{ $name }`
       *[unfit] { $expected }
    }
skep-wanted =
    { $kind ->
        [whole] a whole number from { $first } to { $last }
        [number] a number
        [bool] true or false
        [date] a date such as 2026-12-31
        [time] a time such as 18:30
        [date-time] a date and a time such as 2026-12-31T18:30
        [choice] { $first } or { $last }
       *[other] { $last }
    }
skep-to-first-page = To the first page
