/* Hello over FastCGI, one request at a time, until the web server ends it.
   Debian: apt-get install libfcgi-dev gcc libc6-dev. Build: cc -O2 -o fastcgi-hello hello.c -lfcgi */
#include <fcgi_stdio.h>

int main(void) {
    while (FCGI_Accept() >= 0)
        printf("Content-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!");
    return 0;
}
