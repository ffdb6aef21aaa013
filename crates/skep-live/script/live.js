// Follows a page: asks for it again with what it shows, and morphs the pieces between "live" comments into what comes.
(() => {
  "use strict";
  let stop = new AbortController(), failures = 0, isFollowed = false;

  // By GET: the page may be the answer to a form, which must not be sent again.
  const reload = () => location.replace(location.href.split("#")[0]);

  // The pieces of the page: from <!--live NAME VERSION LENGTH--> to <!--/live NAME-->.
  const pieces = () => {
    const found = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT);
    for (let node; (node = walker.nextNode()); ) {
      const [word, name, version] = node.data.split(" ");
      if (word === "live" && !found.has(name)) found.set(name, { start: node, version });
      else if (word === "/live" && found.has(name)) found.get(name).end = node;
    }
    for (const [name, piece] of found) if (piece.end?.parentNode !== piece.start.parentNode) found.delete(name);
    return found;
  };

  const isLike = (one, other) =>
    one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id || "") === (other.id || "");

  // What a user has opened stays open. Values that were typed are no attributes.
  const isUsers = (element, name) => name === "open" && /^(DETAILS|DIALOG)$/.test(element.nodeName);

  const morphElement = (old, fresh) => {
    for (const { name } of [...old.attributes])
      if (!fresh.hasAttribute(name) && !isUsers(old, name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes)
      if (old.getAttribute(name) !== value && !isUsers(old, name)) old.setAttribute(name, value);
    morph(old, old.firstChild, null, fresh);
  };

  const morphNode = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType === Node.ELEMENT_NODE) morphElement(old, fresh);
    else old.data = fresh.data;
  };

  // Makes what is between `at` and `end` in `parent` like the children of `fresh`. What has the focus is never moved: others move around it.
  const morph = (parent, at, end, fresh) => {
    const ids = new Set([...fresh.childNodes].map((node) => node.id).filter(Boolean));
    const find = (like) => {
      for (let node = at; node && node !== end; node = node.nextSibling) {
        if (isLike(node, like)) return node;
        if (!like.id && node.id && ids.has(node.id)) return null;
      }
    };
    for (const like of [...fresh.childNodes]) {
      const old = find(like);
      if (!old) {
        parent.insertBefore(like, at);
        continue;
      }
      while (at !== old) {
        if (!old.contains(document.activeElement)) {
          parent.insertBefore(old, at);
          break;
        }
        const passed = at;
        at = at.nextSibling;
        if (ids.has(passed.id)) parent.insertBefore(passed, end);
        else passed.remove();
      }
      if (at === old) at = old.nextSibling;
      morphNode(old, like);
    }
    while (at && at !== end) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  };

  const show = ({ name, version, html }) => {
    const piece = pieces().get(name), template = document.createElement("template");
    if (!piece) return;
    template.innerHTML = html;
    morph(piece.start.parentNode, piece.start.nextSibling, piece.end, template.content);
    piece.start.data = `live ${name} ${version} ${html.length}`;
    document.dispatchEvent(new CustomEvent("skep-live", { detail: { name } }));
  };

  const take = (event) => {
    const field = (name) => event.split("\n").find((line) => line.startsWith(name + ": "))?.slice(name.length + 2);
    if (field("event") === "live") show(JSON.parse(field("data")));
    if (field("event") === "reload") reload();
  };

  // Reads events until they end: false if this page is not to be followed any more.
  const follow = async () => {
    const shown = [...pieces()].map(([name, { version }]) => `${name}:${version}`).join(" ");
    if (!shown) return false;
    const headers = { "Skep-Live": shown, Accept: "text/html" };
    const response = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal: stop.signal });
    if (response.status >= 500 || response.status === 429) return true;
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      // Who may not see the page any more is shown why. What was never followed (an answer to a form, an error) is left as it is.
      if (!response.ok && isFollowed) reload();
      return false;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) return true;
      failures = 0;
      isFollowed = true;
      const events = (text + value).split("\n\n");
      text = events.pop();
      events.forEach(take);
    }
  };

  const run = async () => {
    for (const { signal } = stop; !signal.aborted; ) {
      try {
        if (!(await follow())) return;
      } catch {
        // The server or the network is away for a moment.
      }
      if (signal.aborted) return;
      const longest = Math.min(30000, 1000 * 2 ** failures++);
      await new Promise((done) => setTimeout(done, 200 + Math.random() * longest));
    }
  };

  addEventListener("pagehide", () => stop.abort());
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    stop = new AbortController();
    run();
  });
  run();
})();
