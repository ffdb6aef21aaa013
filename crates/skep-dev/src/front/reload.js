// Has a page follow its source: loads it again for a new version, exchanges style sheets, and shows why there is no new version.
(() => {
  "use strict";
  const own = document.currentScript.dataset;
  const { version, styles } = own;
  const isFrame = location.pathname === "/-/dev/problem";
  let seen = styles;
  let shown = null;
  let frame = null;
  let source = null;

  function exchange() {
    for (const sheet of document.querySelectorAll('link[rel~="stylesheet"][href]')) {
      const url = new URL(sheet.href);
      if (url.origin !== location.origin) continue;
      url.searchParams.set("dev", seen);
      const next = sheet.cloneNode();
      next.href = url;
      next.onload = () => sheet.remove();
      next.onerror = () => next.remove();
      sheet.after(next);
    }
  }

  function show(problem) {
    if (problem === shown) return;
    shown = problem;
    frame?.remove();
    frame = null;
    if (!problem) return;
    frame = document.createElement("iframe");
    frame.src = "/-/dev/problem?" + problem;
    frame.title = "Why there is no new version";
    frame.style.cssText =
      "display:block;position:fixed;margin:0;padding:0;max-width:none;max-height:none;inset:0;width:100%;height:100%;border:0;z-index:2147483647;color-scheme:light dark";
    document.documentElement.append(frame);
  }

  function alone(state) {
    const progress = document.getElementById("progress");
    if (progress) progress.textContent = state.progress;
    return String(state.problem ?? 0) !== own.problem;
  }

  function follow(state) {
    if (String(state.version) !== version || ("alone" in own && alone(state))) {
      // Loading the answer to a form again would send the form again.
      if (!("post" in own)) return location.reload();
    }
    if ("alone" in own) return;
    if (String(state.styles) !== seen) {
      seen = String(state.styles);
      exchange();
    }
    show(state.problem);
  }

  // A browser has six connections to a site, so hidden pages hold none; they look when they are shown again.
  function listen() {
    source?.close();
    source = null;
    if (document.hidden) return;
    source = new EventSource("/-/dev/events");
    source.onmessage = (event) => follow(JSON.parse(event.data));
  }

  if (isFrame && window !== parent) {
    const hide = document.createElement("button");
    hide.textContent = "Hide (Esc)";
    hide.onclick = () => frameElement.remove();
    document.querySelector("header").append(hide);
    addEventListener("keydown", (event) => event.key === "Escape" && frameElement.remove());
    focus();
  } else if (!isFrame && !window.frameElement) {
    // A page of this site around it follows for both.
    document.addEventListener("visibilitychange", listen);
    addEventListener("pageshow", (event) => event.persisted && listen());
    listen();
  }
})();
