// Follows a page: asks for it with what it shows, and morphs the pieces between "live" comments into what comes.
(() => {
  "use strict";
  let turn, connection, silence, failures = 0, pause = 1000, isFollowed = false;

  // By GET: no form is sent again.
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

  // Makes what is from `at` to `end` like the children of `fresh`. What has the focus is never moved: others move around it.
  const morph = (parent, at, end, fresh) => {
    const ids = new Set([...fresh.childNodes].map((node) => node.id).filter(Boolean));
    // What is gone goes first, so that nothing moves around it.
    for (let node = at; node && node !== end; ) {
      const old = node;
      node = node.nextSibling;
      if (!old.id || ids.has(old.id)) continue;
      if (at === old) at = node;
      old.remove();
    }
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
    pause = +field("retry") || pause;
  };

  // The server sends something every 15 seconds.
  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(() => connection.abort(), 45000);
  };

  // Reads events until they end: false if this page is not to be followed any more.
  const follow = async ({ signal }) => {
    const shown = [...pieces()].map(([name, { version }]) => `${name}:${version}`).join(" ");
    if (!shown) return false;
    const headers = { "Skep-Live": shown, Accept: "text/html" }, begun = Date.now();
    const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal });
    if (answer.status >= 500 || answer.status === 429) return true;
    if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      // Who may not see it any more is shown why. Answers to forms, and errors, were never followed.
      if (!answer.ok && isFollowed) reload();
      return false;
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ; ) {
      const { value, done } = await reader.read();
      // Responses of a component end at once.
      if (Date.now() - begun > 10000 || (done && pause >= 5000)) failures = 0;
      if (done) return true;
      alive();
      isFollowed = true;
      const events = (text + value).split("\n\n");
      text = events.pop();
      events.forEach(take);
    }
  };

  const run = async () => {
    if (turn || document.hidden) return;
    for (const mine = (turn = {}); turn === mine; ) {
      alive();
      try {
        if (!(await follow((connection = new AbortController())))) return;
      } catch {
        // The server is away for a moment.
      }
      const longest = Math.min(30000, pause * 2 ** failures++);
      await new Promise((done) => setTimeout(done, (longest * (1 + Math.random())) / 2));
    }
  };

  const leave = () => {
    turn = null;
    connection?.abort();
  };

  addEventListener("pagehide", leave);
  addEventListener("pageshow", run);
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : run()));
  run();
})();
