// Fetches the page again and puts its content in the place of this one's. Without scripts, the page reloads itself.
const refresh = async () => {
  if (document.hidden) return;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.body.classList.remove("stale");
  } catch {
    document.body.classList.add("stale");
  }
};
setInterval(refresh, 5000);
