(* The posts' programs as services of Eliom: a hello, two counters, and a list from SQLite as typed HTML.
   The database is the file that POSTS_DATABASE names, opened once. *)

module Html = Eliom_content.Html.F

let db = Sqlite3.db_open ~mode:`READONLY (Sys.getenv "POSTS_DATABASE")

let get path = Eliom_service.create ~path:(Eliom_service.Path [ path ]) ~meth:(Eliom_service.Get Eliom_parameter.unit) ()

let text path answer =
  Eliom_registration.String.register ~service:(get path) (fun () () -> Lwt.return (answer (), "text/plain"))

let () = text "hello" (fun () -> "Hello, world!")

let () =
  let shared = ref 0 in
  text "count" (fun () ->
      let local = ref 0 in
      incr shared;
      incr local;
      Printf.sprintf "static %d, local %d\n" !shared !local)

let writing =
  Eliom_service.create ~path:(Eliom_service.Path [ "writings" ])
    ~meth:(Eliom_service.Get Eliom_parameter.(suffix (string "slug"))) ()

let tagged =
  Eliom_service.create ~path:(Eliom_service.Path [ "tags" ])
    ~meth:(Eliom_service.Get Eliom_parameter.(suffix (string "tag"))) ()

let () =
  let named name () = Lwt.return (name, "text/plain") in
  Eliom_registration.String.register ~service:writing named;
  Eliom_registration.String.register ~service:tagged named

let article = function
  | [| Some slug; Some heading; Some day; Some lead; Some tags |] ->
    let tag name = Html.(li [ a ~service:tagged ~xhr:false [ txt name ] name ]) in
    Html.(
      article
        [ h2 [ a ~service:writing ~xhr:false [ txt heading ] slug ]
        ; p [ time ~a:[ a_datetime day ] [ txt day ] ]
        ; p [ txt lead ]
        ; ul (List.map tag (String.split_on_char ' ' tags)) ])
  | _ -> failwith "a column is null"

let rows table =
  let query = Sqlite3.prepare db ("select slug, title, published, summary, tags from " ^ table
                                  ^ " order by published desc limit 20") in
  let rows = ref [] in
  while Sqlite3.step query = Sqlite3.Rc.ROW do
    rows := Array.map Sqlite3.Data.to_string (Sqlite3.row_data query) :: !rows
  done;
  ignore (Sqlite3.finalize query);
  List.rev !rows

let list path table =
  Eliom_registration.Html.register ~service:(get path) (fun () () ->
      let articles = List.map article (rows table) in
      Lwt.return
        Html.(
          html ~a:[ a_lang "en" ]
            (head (title (txt "Writings")) [ meta ~a:[ a_charset "utf-8" ] () ])
            (body (h1 [ txt "Newest articles" ] :: articles))))

let () = list "page" "article"
let () = list "empty" "blank"
