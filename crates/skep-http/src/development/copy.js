document.getElementById("copy").onclick = async ({ target }) => {
  const details = document.getElementById("markdown");
  const area = details.querySelector("textarea");
  try {
    await navigator.clipboard.writeText(area.value);
  } catch {
    // Without permission, or over a name that is not secure.
    details.open = true;
    area.select();
    document.execCommand("copy");
  }
  target.textContent = "Copied";
};
