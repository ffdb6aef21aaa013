// Cards are dragged from list to list. It fills in the form "put", which is sent in place as others are.
(() => {
  "use strict";
  let card;
  const list = ({ target }) => card && target.closest?.("[data-list]");
  // One after the other.
  const put = (values) => {
    const form = document.querySelector("#put");
    if (form?.ariaBusy) return setTimeout(put, 50, values);
    for (const name in values) form.elements[name].value = values[name];
    form.requestSubmit();
  };
  document.addEventListener("dragstart", ({ target }) => (card = target.closest?.(".card")));
  document.addEventListener("dragend", () => (card = null));
  document.addEventListener("dragover", (event) => list(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    const into = list(event);
    if (!into) return;
    event.preventDefault();
    const isBelow = (one) => one.getBoundingClientRect().top + one.offsetHeight / 2 > event.clientY;
    const before = [...into.querySelectorAll(".card")].find((one) => one !== card && isBelow(one));
    const number = (one) => one?.id.slice("card-".length) ?? "";
    put({ card: number(card), list: into.dataset.list, before: number(before) });
  });
})();
