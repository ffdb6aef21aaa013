/** The list: 20 rows from SQLite and a template from a file. Both are opened once where the module is cached, and by each request where it is not. **/
class Page {
    static var template:haxe.Template;
    static var db:sys.db.Connection;

    static function main() {
        #if cached
        neko.Web.cacheModule(main);
        #end
        if (template == null) {
            template = new haxe.Template(sys.io.File.getContent(neko.Web.getCwd() + "page.mtt"));
            db = sys.db.Sqlite.open(Sys.getEnv("POSTS_DATABASE"));
        }
        var query = "select slug, title, published, summary, tags from article order by published desc limit 20";
        Sys.print(template.execute({articles: [for (row in db.request(query)) article(row)]}));
    }

    static function article(row:Dynamic) {
        var text = (field) -> StringTools.htmlEscape(Reflect.field(row, field), true);
        return {
            slug: text("slug"),
            title: text("title"),
            published: text("published"),
            summary: text("summary"),
            tags: text("tags").split(" ")
        };
    }
}
