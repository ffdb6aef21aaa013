// Fills in a control as far as a script does that better than keys: the rest is returned as what is still to do.
function (value) {
  const changed = () => {
    this.dispatchEvent(new Event("input", { bubbles: true }));
    this.dispatchEvent(new Event("change", { bubbles: true }));
  };
  if (this.type === "file") return "file";
  if (this.matches("[type=checkbox], [type=radio], button, [type=submit]")) return "click it instead";
  this.scrollIntoView({ block: "center", behavior: "instant" });
  this.focus();
  if (document.activeElement !== this) return "it does not take the focus";
  if (this.matches("select")) {
    const fits = (option) => option.text.trim() === value || option.value === value;
    const option = [...this.options].find(fits);
    if (!option) return `it has no option ${JSON.stringify(value)}: ${[...this.options].map((one) => one.text.trim()).join(", ")}`;
    if (!this.multiple) this.value = option.value;
    option.selected = true;
    changed();
    return "done";
  }
  // What keys mean in these depends on the language of the browser.
  if (this.matches("[type=date], [type=time], [type=datetime-local], [type=month], [type=week], [type=color], [type=range]")) {
    this.value = value;
    changed();
    return "done";
  }
  if (this.select) this.select();
  else document.getSelection().selectAllChildren(this);
  return "type";
}
