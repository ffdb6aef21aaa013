// Follows a page: asks for it with what it shows, and morphs the pieces between "live" comments into what comes.
// Sends the forms of such a page, and follows links with data-live, in place. The guide says what that means.
(() => {
  "use strict";
  let turn, visiting, connection, silence, isFollowed, wanted, failures = 0, pause = 1000;
  // Forms that are being sent, and those in which somebody types, or reads what is wrong. They are left alone, so the
  // version of a row in them stays the one that is edited.
  let sent = new WeakMap(), kept = new WeakSet();
  const doc = document, root = doc.documentElement, aside = doc.createElement("div");
  const bare = (url) => url.split("#")[0];
  const isHere = (url) => bare(url) === bare(location.href);
  // The address of the page that is shown, and a mark that is another one once the user goes to another page.
  let shown = bare(location.href), page = {};

  // By GET: no form is sent again.
  const reload = () => location.replace(bare(location.href));

  // From <!--live NAME VERSION LENGTH--> to <!--/live NAME-->.
  const pieces = () => {
    const found = new Map(), walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_COMMENT);
    for (let node; (node = walker.nextNode()); ) {
      const [word, name, version] = node.data.split(" ");
      if (word === "live" && !found.has(name)) found.set(name, { start: node, version });
      else if (word === "/live" && found.has(name)) found.get(name).end = node;
    }
    for (const [name, { start, end }] of found) if (end?.parentNode !== start.parentNode) found.delete(name);
    return found;
  };

  // Forms have their controls as properties, whatever these are called.
  const reset = (form) => HTMLFormElement.prototype.reset.call(form);
  const contains = (node, other) => Node.prototype.contains.call(node, other);

  const text = (node, name) => node.getAttribute?.(name) || "";
  const idOf = (node) => text(node, "id");

  // What was typed or chosen stays with its name.
  const isLike = (one, other) =>
    one.nodeName === other.nodeName &&
    ["id", "name", "type", "action", /radio|checkbox/.test(one.type) && "value"].every(
      (name) => text(one, name) === text(other, name),
    );

  // What a user has opened stays open. Values that were typed are no attributes.
  const isUsers = ({ nodeName }, name) => name === "open" && /^(DETAILS|DIALOG)$/.test(nodeName);

  // Some browsers keep all state of what is moved.
  const move = (parent, node, before) => {
    try {
      parent.moveBefore(node, before);
    } catch {
      parent.insertBefore(node, before);
    }
  };

  // What appears elsewhere is laid aside.
  const remove = (node) => {
    for (const one of [node, ...(node.querySelectorAll?.("[id]") || [])])
      if (wanted.has(idOf(one)) && !aside.contains(one)) move(aside, one, null);
    if (node.parentNode !== aside) node.parentNode.removeChild(node);
  };

  const morphNode = (old, fresh) => {
    if (kept.has(old) || sent.get(old)?.waits || old.isEqualNode(fresh)) return;
    if (old.nodeType !== 1) return (old.data = fresh.data);
    for (const name of old.getAttributeNames())
      if (!fresh.hasAttribute(name) && !isUsers(old, name)) old.removeAttribute(name);
    for (const name of fresh.getAttributeNames()) {
      const value = fresh.getAttribute(name);
      if (old.getAttribute(name) !== value && !isUsers(old, name)) old.setAttribute(name, value);
    }
    morph(old, old.firstChild, null, fresh);
  };

  // Makes what is from `at` to `end` like the children of `fresh`.
  const morph = (parent, at, end, fresh) => {
    const ids = new Set([...fresh.childNodes].map(idOf).filter(Boolean));
    // What is gone goes first, so that nothing moves around it.
    for (let node = at; node && node !== end; ) {
      const old = node;
      node = node.nextSibling;
      if (!idOf(old) || ids.has(idOf(old))) continue;
      if (at === old) at = node;
      remove(old);
    }
    const find = (like) => {
      for (let node = at; node && node !== end; node = node.nextSibling) {
        if (isLike(node, like)) return node;
        if (!idOf(like) && ids.has(idOf(node))) return;
      }
      const other = doc.getElementById(idOf(like));
      if (other && isLike(other, like) && !contains(other, parent)) return other;
    };
    for (const like of [...fresh.childNodes]) {
      const old = find(like);
      if (!old) parent.insertBefore(like, at);
      else {
        if (old === at) at = at.nextSibling;
        else move(parent, old, at);
        morphNode(old, like);
      }
    }
    while (at && at !== end) {
      const old = at;
      at = at.nextSibling;
      remove(old);
    }
  };

  // The focus stays where it is.
  const change = (fresh, work) => {
    const active = doc.activeElement;
    wanted = new Set([...fresh.querySelectorAll("[id]")].map(idOf).filter(Boolean));
    root.append(aside);
    try {
      work();
    } finally {
      aside.replaceChildren();
      aside.remove();
    }
    if (active !== doc.activeElement && active.isConnected) active.focus({ preventScroll: true });
  };

  const tell = (detail) => doc.dispatchEvent(new CustomEvent("skep-live", { detail }));

  const show = ({ name, version, html }) => {
    const { start, end } = pieces().get(name) || {}, template = doc.createElement("template");
    if (!start) return;
    template.innerHTML = html;
    change(template.content, () => morph(start.parentNode, start.nextSibling, end, template.content));
    start.data = `live ${name} ${version} ${html.length}`;
    tell({ name });
  };

  // Shows a page under the address that is the one of the window now. What was typed stays with its address, or in the
  // form that asks for the page.
  const showPage = (fresh, hasFocus, by) => {
    const isOther = !isHere(shown);
    // Browsers would complain of it in a page that has the focus somewhere.
    const first = fresh.querySelector("[autofocus]");
    first?.removeAttribute("autofocus");
    first?.setAttribute("data-first", "");
    if (isOther) {
      kept = new WeakSet();
      page = {};
      shown = bare(location.href);
    }
    doc.title = fresh.title;
    change(fresh, () => morphNode(doc.body, fresh.body));
    if (isOther) for (const form of doc.forms) if (form !== by) reset(form);
    const shownFirst = doc.querySelector("[data-first]");
    shownFirst?.removeAttribute("data-first");
    if (hasFocus) shownFirst?.focus();
    isFollowed = false;
    leave();
    run();
    tell({});
  };

  // The answer, and its page, unless it is to be saved.
  const ask = async (url, options) => {
    const answer = await fetch(url, { ...options, headers: { Accept: "text/html", ...options?.headers } });
    const has = (name, value) => answer.headers.get(name)?.startsWith(value);
    const isPage = has("content-type", "text/html") && !has("content-disposition", "attachment");
    return [answer, isPage && new DOMParser().parseFromString(await answer.text(), "text/html")];
  };

  // As they were when this script began: others may have added some since.
  const loadedBy = (of) => {
    const all = [...of.querySelectorAll("head script:not([type$=json]), style, [rel=stylesheet]")];
    return all.map((one) => one.src || one.href || one.textContent) + "";
  };
  const loaded = loadedBy(doc);

  const enter = (url) => history[isHere(url) ? "replaceState" : "pushState"](null, "", url);

  // What cannot be shown in place is loaded.
  const visit = async (url, isNew, before, by) => {
    const mine = (visiting = {});
    try {
      const [answer, fresh] = await ask(url), { hash } = new URL(url);
      if (!fresh) answer.body?.cancel();
      before?.();
      if (visiting !== mine) return;
      const isOurs = new URL(answer.url).origin === location.origin;
      if (!answer.ok || !fresh || !isOurs || loadedBy(fresh) !== loaded) throw 0;
      if (isNew) enter(answer.url + hash);
      else if (answer.redirected) history.replaceState(null, "", answer.url);
      showPage(fresh, false, by);
      if (isNew) (doc.getElementById(hash.slice(1)) || doc.body).scrollIntoView();
    } catch {
      if (visiting !== mine) return;
      if (isHere(url)) reload();
      else location.assign(url);
    }
  };

  // Where the user wants to be: answers to forms that were sent before are not shown there.
  const go = (url, isNew, form) => {
    page = {};
    visit(url, isNew, null, form);
  };

  const note = (label, ...content) => {
    const dialog = doc.createElement("dialog");
    dialog.ariaLabel = label;
    dialog.innerHTML = "<form method=dialog><button>OK</button></form>";
    dialog.prepend(...content);
    dialog.onclose = () => dialog.remove();
    doc.body.append(dialog);
    dialog.showModal();
  };

  const save = async (answer) => {
    const link = doc.createElement("a"), named = answer.headers.get("content-disposition") || "";
    const encoded = /filename\*=utf-8''([^;]+)/i.exec(named), plain = /filename="?([^";]+)/i.exec(named);
    link.href = URL.createObjectURL(await answer.blob());
    link.download = encoded ? decodeURIComponent(encoded[1]) : plain?.[1] || "";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // The form is released once what it is answered is shown.
  const send = async (form, url, body, data) => {
    const mine = page, typed = () => new URLSearchParams(new FormData(form)) + "", before = typed();
    const lost = root.dataset.liveLost || "The server cannot be reached. What you have typed is still here.";
    const take = async ([answer, fresh]) => {
      const to = answer.headers.get("Skep-Live"), { href, hash, protocol } = new URL(to || answer.url, url);
      if (!/^https?:$/.test(protocol)) throw new Error(`a redirect to ${protocol}`);
      if (to || answer.redirected) {
        if (!fresh) answer.body?.cancel();
        if (!isHere(href)) {
          page = {};
          location.assign(href);
          return new Promise((done) => setTimeout(done, 5000));
        }
        let isSame;
        await visit(href, false, () => {
          isSame = typed() === before;
          if (page === mine) free();
        });
        if (page !== mine) return;
        if (!isSame) kept.add(form);
        else {
          reset(form);
          form.closest("dialog")?.close();
        }
        if (hash) enter(href);
        // Where it would be loaded, the focus is lost.
        doc.getElementById(hash.slice(1))?.scrollIntoView({ block: "nearest" });
      } else if (fresh) {
        const isThere = [...fresh.forms].some((one) => isLike(one, form));
        if (!isThere && !answer.ok) return note(fresh.title, ...(fresh.querySelector("main") || fresh.body).childNodes);
        free();
        showPage(fresh, true);
        for (const one of form.isConnected ? [form] : doc.forms) if (isLike(one, form)) kept.add(one);
      } else if (!answer.ok) note(lost, (await answer.text()) || lost);
      else if (answer.status !== 204) await save(answer);
    };
    const entry = { data, waits: true };
    const free = () => {
      entry.waits = false;
      kept.delete(form);
    };
    sent.set(form, entry);
    form.ariaBusy = true;
    const answered = await ask(url, { method: "POST", body, headers: { "Skep-Live": "form" } }).catch(() => {});
    try {
      if (page !== mine) answered?.[0].body?.cancel().catch(() => {});
      else if (answered) await take(answered);
      else note(lost, lost);
    } finally {
      sent.delete(form);
      form.ariaBusy = null;
      if (page === mine) entry.next?.();
    }
  };

  const submit = (event) => {
    const { target: form, submitter } = event, live = form.getAttribute("data-live"), begun = sent.get(form);
    const of = (name) => submitter?.getAttribute("form" + name) ?? text(form, name);
    const url = new URL(of("action") || location.href, doc.baseURI), isPost = /^post$/i.test(of("method"));
    if (/^dialog$/i.test(of("method"))) return;
    if (event.defaultPrevented || !["", "_self"].includes(of("target")) || url.origin !== location.origin) return;
    if (live === "off" || of("enctype") === "text/plain" || (live === null && !(isPost && pieces().size))) return;
    const data = new FormData(form, submitter);
    // As browsers encode it: of files, the name.
    const field = ([name, value]) => [name, (value.name ?? value).replace(/\r?\n|\r/g, "\r\n")];
    const query = new URLSearchParams([...data].map(field));
    event.preventDefault();
    // Sent twice it is sent once; something else waits for its turn.
    if (begun) {
      const again = () => form.isConnected && form.requestSubmit(submitter?.isConnected ? submitter : null);
      begun.next = begun.data === query + "" ? null : again;
      return;
    }
    if (isPost) return send(form, url, of("enctype") === "multipart/form-data" ? data : query, query + "");
    url.search = query;
    go(url.href, true, form);
  };

  const click = (event) => {
    const link = event.target.closest?.("a[data-live]");
    if (!link || link.dataset.live === "off" || link.target || event.defaultPrevented || event.button) return;
    if (event.ctrlKey || event.shiftKey || event.altKey || event.metaKey) return;
    if (link.origin !== location.origin || link.hasAttribute("download") || (link.hash && isHere(link.href))) return;
    event.preventDefault();
    go(link.href, true);
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
    const versions = [...pieces()].map(([name, { version }]) => `${name}:${version}`).join(" ");
    if (!versions) return false;
    const headers = { "Skep-Live": versions, Accept: "text/html" }, begun = Date.now();
    const answer = await fetch(shown, { headers, cache: "no-store", redirect: "manual", signal });
    if (answer.status >= 500 || answer.status === 429) return true;
    if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      // Who may not see it any more is shown why. Answers to forms, and errors, were never followed.
      if (!answer.ok && isFollowed) reload();
      return false;
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { value, done } = await reader.read();
      // Responses of a component end at once.
      if (Date.now() - begun > 10000 || (done && pause >= 5000)) failures = 0;
      if (done) return true;
      alive();
      isFollowed = true;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      events.forEach(take);
    }
  };

  const run = async () => {
    if (turn || doc.hidden) return;
    for (const mine = (turn = {}); turn === mine; ) {
      alive();
      try {
        if (!(await follow((connection = new AbortController())))) return;
      } catch {
        // The server is away for a moment.
      }
      if (turn !== mine) return;
      const longest = Math.min(30000, pause * 2 ** failures++);
      await new Promise((done) => setTimeout(done, (longest * (1 + Math.random())) / 2));
    }
  };

  const leave = () => {
    turn = null;
    connection?.abort();
  };

  addEventListener("submit", submit);
  addEventListener("click", click);
  addEventListener("input", ({ target }) => target.form && kept.add(target.form));
  addEventListener("reset", ({ target }) => kept.delete(target));
  addEventListener("popstate", () => (isHere(shown) ? (visiting = null) : go(location.href)));
  addEventListener("pagehide", leave);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    sent = new WeakMap();
    run();
  });
  doc.addEventListener("visibilitychange", () => (doc.hidden ? leave() : run()));
  run();
})();
