// The component of tests/isolate/languages.rs in JavaScript: what is at the top of the module is what a module cache would keep.

import { Fields, OutgoingBody, OutgoingResponse, ResponseOutparam } from "wasi:http/types@0.2.12";

let staticInt = 0;
let user = "nobody";

function answer(path, query) {
  switch (path) {
    case "/counts": {
      let localInt = 0;
      staticInt += 1;
      localInt += 1;
      return `static ${staticInt} local ${localInt}`;
    }
    case "/login":
      user = query;
      return "welcome";
    case "/whoami":
      return user;
    case "/random":
      return crypto.randomUUID();
    case "/throw":
      throw new Error("it was asked to");
    default:
      return "Hello, world!";
  }
}

export const incomingHandler = {
  handle(request, out) {
    const [path, query] = request.pathWithQuery().split("?");
    const text = new TextEncoder().encode(answer(path, query));
    const response = new OutgoingResponse(new Fields());
    const body = response.body();
    ResponseOutparam.set(out, { tag: "ok", val: response });
    const stream = body.write();
    stream.blockingWriteAndFlush(text);
    stream[Symbol.dispose]();
    OutgoingBody.finish(body, undefined);
  },
};
