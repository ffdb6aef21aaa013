/** One counter that is the module's and one that is the request's: with the cache, the first counts up. **/
class Count {
    static var shared = 0;

    static function main() {
        #if cached
        neko.Web.cacheModule(main);
        #end
        var local = 0;
        shared++;
        local++;
        Sys.print('static $shared, local $local\n');
    }
}
