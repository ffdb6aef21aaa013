// The server of Node's standard library, for the table of odd requests: it reads the body, and answers 200.
const http = require("node:http");
const [host, port] = process.argv[2].split(":");

http
  .createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end("ok\n"));
  })
  .listen(Number(port), host);
