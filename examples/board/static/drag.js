// Cards are dragged from list to list. It fills in the form "put", which is sent in place as others are.
(() => {
  "use strict";
  let card;
  const list = ({ target }) => card && target.closest?.("[data-list]");
  document.addEventListener("dragstart", ({ target }) => (card = target.closest?.(".card")));
  document.addEventListener("dragend", () => (card = null));
  document.addEventListener("dragover", (event) => list(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    const into = list(event);
    if (!into) return;
    event.preventDefault();
    const isBelow = (one) => one.getBoundingClientRect().top + one.offsetHeight / 2 > event.clientY;
    const before = [...into.querySelectorAll(".card")].find((one) => one !== card && isBelow(one));
    const form = document.querySelector("#put"), number = (one) => one?.id.slice("card-".length) ?? "";
    form.elements.card.value = number(card);
    form.elements.list.value = into.dataset.list;
    form.elements.before.value = number(before);
    form.requestSubmit();
  });
})();
