class Hello {
    static function main() {
        #if cached
        neko.Web.cacheModule(main);
        #end
        Sys.print("Hello, world!");
    }
}
