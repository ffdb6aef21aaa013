// What a test looks for in a page: waits until it is there, and resolves to it (the place to click, for a click), or
// after `limit` milliseconds to why not.
(kind, what, limit) => {
  const words = (text) => text.replace(/\s+/g, " ").trim();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  // A text such as "Save!" is no selector.
  const bySelector = () => {
    try {
      return all(what);
    } catch {
      return [];
    }
  };
  const describe = (element) => element.cloneNode(false).outerHTML;

  function textOf(element) {
    const picture = element.querySelector("img[alt]");
    const own = element.matches("input") ? element.value : element.innerText;
    return words(own || element.getAttribute("aria-label") || element.title || (picture ? picture.alt : ""));
  }

  function textOfLabel(label) {
    const copy = label.cloneNode(true);
    copy.querySelectorAll("input, select, textarea, button").forEach((control) => control.remove());
    return words(copy.textContent);
  }

  const CLICKABLE =
    "a[href], button, summary, label, [role=button], [role=link], [role=tab], [role=menuitem], input:is([type=submit], [type=button], [type=reset])";

  // With this text; of those that fit a selector, the first one that is shown.
  function clickable() {
    const named = all(CLICKABLE).filter((element) => isShown(element) && textOf(element) === what);
    if (named.length > 1) return `${named.length} elements have this text: ${named.map(describe).join(" ")}`;
    return named[0] ?? bySelector().find(isShown) ?? "it is not on the page, or not shown";
  }

  const FIELD = "input:not([type=hidden]), select, textarea, [contenteditable]:not([contenteditable=false])";
  // Where a file is chosen, a label is often shown instead.
  const isField = (element) => element.matches(FIELD) && (element.type === "file" || isShown(element));

  function field() {
    const quoted = JSON.stringify(what);
    const isMeant = (label) => textOfLabel(label) === what && label.control && isField(label.control);
    const labels = all("label").filter(isMeant);
    if (labels.length > 1) return `${labels.length} fields have this label`;
    const first = (elements) => elements.find(isField);
    const named = () => first(all(`[name=${quoted}], [aria-label=${quoted}], [placeholder=${quoted}]`));
    const control = labels[0]?.control ?? named() ?? first(all(`[id=${quoted}]`)) ?? first(bySelector());
    return control ?? "no field has this label, name, id or selector, or it is not shown";
  }

  // Where it is clicked: nothing else may lie there.
  function middle(element) {
    if (element.matches(":disabled")) return `it is disabled: ${describe(element)}`;
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const area = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
    if (!area) return `it has no size: ${describe(element)}`;
    const place = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
    const hit = document.elementFromPoint(place.x, place.y);
    const fits = hit && (element.contains(hit) || hit.closest("label")?.control === element);
    return fits ? place : `it is covered by ${hit ? describe(hit) : "the edge of the window"}`;
  }

  const find = {
    click() {
      const element = clickable();
      return typeof element === "string" ? element : middle(element);
    },
    field() {
      const control = field();
      return typeof control !== "string" && control.matches(":disabled") ? "it is disabled" : control;
    },
    element: () => bySelector().find(isShown) ?? "nothing that is shown fits the selector",
    text: () => words(document.body?.innerText ?? "").includes(words(what)) || "the page does not have this text",
    until() {
      try {
        return Boolean(what()) || "it is not true";
      } catch (error) {
        return String(error);
      }
    },
  }[kind];

  return new Promise((resolve) => {
    const end = performance.now() + limit;
    const look = () => {
      const found = find();
      if (typeof found !== "string" || performance.now() > end) return resolve(found);
      requestAnimationFrame(look);
    };
    look();
  });
}
