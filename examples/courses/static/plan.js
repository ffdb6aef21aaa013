// The one-page client: a week of courses, booked and cancelled without leaving the page. The cookie of the session goes
// along by itself, and so does what says that the request comes from our own page.
const plan = document.querySelector("#plan"), text = plan.dataset;
const format = (options) => new Intl.DateTimeFormat(text.language, { timeZone: text.zone, ...options });
const day = format({ weekday: "long", day: "numeric", month: "long" }), hour = format({ hour: "numeric", minute: "2-digit" });

const element = (name, properties, ...content) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...content);
  return made;
};

const call = async (method, path) => {
  const answer = await fetch(`/api/courses${path}`, { method, headers: { accept: "application/json" } });
  const body = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) throw new Error(body.detail ?? body.title);
  return body;
};

const shift = (monday, days) => new Date(Date.parse(monday) + days * 86_400_000).toISOString().slice(0, 10);

const row = (course, monday) => {
  const change = async (method) => {
    await call(method, `/${course.id}/booking`);
    await show(monday, course.id);
  };
  const [label, method] = course.booking ? [text.cancel, "DELETE"] : [course.free ? text.book : text.wait, "PUT"];
  const mine = course.booking?.waiting ? text.waiting : text.booked;
  const state = course.booking ? mine : `${course.free} / ${course.places}`;
  const button = element("button", { className: "quiet", onclick: () => change(method).catch(complain) }, label);
  button.dataset.course = course.id;
  button.setAttribute("aria-label", `${label}: ${course.title}`);
  const at = new Date(course.starts);
  return element("li", {},
    element("span", { className: "hour" }, hour.format(at)),
    element("a", { href: `/courses/${course.id}` }, course.title),
    element("span", { className: "meta" }, `${day.format(at)} · ${course.trainer}`),
    element("span", { className: "badge" }, state),
    button);
};

const complain = (error) => plan.prepend(element("p", { className: "problem", role: "alert" }, error.message));

const show = async (on, focus) => {
  const { monday, courses } = await call("GET", on ? `?day=${on}` : "");
  const turn = (label, days) =>
    element("button", { className: "quiet", onclick: () => show(shift(monday, days)).catch(complain) }, label);
  plan.replaceChildren(
    element("p", { className: "tools" }, turn(`← ${text.previous}`, -7), turn(`${text.next} →`, 7)),
    courses.length
      ? element("ul", { className: "rows" }, ...courses.map((course) => row(course, monday)))
      : element("p", { className: "empty" }, text.empty));
  plan.querySelector(`[data-course="${focus}"]`)?.focus();
};

show().catch(complain);
