"use strict";
// Filters of the lists of changes (kept in the address), sorting of the league tables, and the switch on a cell's page.
const wanted = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

const FIRST = 50; // rows that are shown before somebody asks for all
const all = new Set(); // lists that are shown whole

function filter(form, tell) {
  const list = form.dataset.list;
  const rows = document.querySelectorAll(`table.changes[data-list="${list}"] tbody tr`);
  const given = Object.fromEntries(new FormData(form));
  const text = given.q.trim().toLowerCase();
  let shown = 0, found = 0;
  for (const row of rows) {
    const fits =
      (!given.mark || row.dataset.mark === given.mark) &&
      (!given.boundary || row.dataset.boundary === given.boundary) &&
      (!given.adapters || row.dataset.adapters === given.adapters) &&
      (!text || row.textContent.toLowerCase().includes(text));
    found += fits;
    row.hidden = !fits || (found > FIRST && !all.has(list));
    shown += !row.hidden;
  }
  const more = shown < found ? `, the first ${shown} are shown` : "";
  document.querySelector(`.shown[data-list="${list}"]`).textContent = `${found} of ${rows.length} cells${more}`;
  document.querySelector(`.more[data-list="${list}"]`).hidden = shown === found;
  if (!tell) return;
  const kept = new URLSearchParams({ list });
  for (const [name, value] of Object.entries(given)) if (value) kept.set(name, value);
  history.replaceState(null, "", kept.size > 1 ? "#" + kept : location.pathname + location.search);
}

for (const form of document.querySelectorAll("form.filters")) {
  form.hidden = false;
  if (wanted.get("list") === form.dataset.list) {
    for (const control of form.elements) if (control.name) control.value = wanted.get(control.name) || "";
    form.scrollIntoView();
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => filter(form, true));
  form.addEventListener("reset", () => setTimeout(() => filter(form, true)));
  filter(form, false);
}

for (const button of document.querySelectorAll("button.rest")) {
  button.addEventListener("click", () => {
    all.add(button.dataset.list);
    const form = document.querySelector(`form.filters[data-list="${button.dataset.list}"]`);
    filter(form, false);
  });
}

for (const link of document.querySelectorAll("a.pick")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const form = document.querySelector(`form.filters[data-list="${link.dataset.list}"]`);
    form.reset();
    setTimeout(() => {
      form.elements.mark.value = link.dataset.mark;
      form.elements.boundary.value = link.dataset.boundary;
      filter(form, true);
      form.scrollIntoView();
      form.elements.q.focus({ preventScroll: true });
    });
  });
}

const valueAt = (row, column) => Number(row.cells[column].dataset.value ?? row.cells[column].textContent);

for (const button of document.querySelectorAll(".by-column")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const table = head.closest("table");
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (down ? -1 : 1) * (valueAt(a, head.cellIndex) - valueAt(b, head.cellIndex)));
    table.tBodies[0].append(...rows);
  });
}

for (const button of document.querySelectorAll(".by-row")) {
  button.addEventListener("click", () => {
    const row = button.closest("tr");
    const table = row.closest("table");
    const first = [...row.cells].findIndex((cell) => cell.dataset.value !== undefined);
    const order = [...row.cells].slice(first).map((cell, index) => [Number(cell.dataset.value), index]);
    order.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const each of table.rows) {
      const cells = [...each.cells].slice(first);
      each.append(...order.map(([, index]) => cells[index]));
    }
  });
}

const only = document.querySelector("button.only");
only?.addEventListener("click", () => {
  const pressed = only.getAttribute("aria-pressed") !== "true";
  only.setAttribute("aria-pressed", String(pressed));
  document.querySelector(".stories").classList.toggle("differences", pressed);
});

const back = document.getElementById("back");
document.addEventListener("keydown", (event) => {
  if (!back || event.key !== "u" || event.ctrlKey || event.metaKey || event.altKey) return;
  back.click();
});
