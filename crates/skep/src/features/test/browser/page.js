// What a test looks for in a page: waits until it is there, and resolves to it, or after `limit` milliseconds to why not.
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

  function field() {
    const quoted = JSON.stringify(what);
    const labelled = all("label").filter((label) => textOfLabel(label) === what && label.control);
    if (labelled.length > 1) return `${labelled.length} fields have this label`;
    const named = () => document.querySelector(`[name=${quoted}], [aria-label=${quoted}], [placeholder=${quoted}]`);
    const isControl = (element) => element.matches("input, select, textarea, [contenteditable]");
    const control = labelled[0]?.control ?? named() ?? document.getElementById(what) ?? bySelector().find(isControl);
    return control ?? "no field has this label, name, id or selector";
  }

  // Where it would be clicked, nothing else may lie.
  function isFree(element) {
    if (element.matches(":disabled")) return `it is disabled: ${describe(element)}`;
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { x, y, width, height } = element.getClientRects()[0];
    const hit = document.elementFromPoint(x + width / 2, y + height / 2);
    const fits = hit && (element.contains(hit) || hit.contains(element) || hit.control === element);
    return fits ? element : `it is covered by ${hit ? describe(hit) : "the edge of the window"}`;
  }

  const find = {
    click() {
      const element = clickable();
      return typeof element === "string" ? element : isFree(element);
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
