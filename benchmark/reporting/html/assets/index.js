"use strict";
// The list of cells: filters, sort, keyboard; its state is the address. Data comes from cells.js, which is loaded after this.
document.addEventListener("DOMContentLoaded", () => {
  const data = window.benchCells;
  const list = document.getElementById("list");
  const form = document.getElementById("filters");
  const status = document.getElementById("count");
  if (!data) {
    status.textContent = "cells.js is missing or damaged: the list cannot be shown. `bench report` writes it again.";
    return;
  }
  const began = performance.now();
  const FIRST = 50;
  const STEP = 200;
  const SIGNS = { extra: "+", missing: "−", false_dedup: "=", unresolved: "?", misreported: "!", torn: "½" };
  const FIGURES = Object.keys(SIGNS);
  const PARTS = { duplicates: "extra", strays: "extra", compensated: "extra", avoidable: "unresolved" };
  const VERDICTS = ["violated", "incomplete", "unresolved", "harness-error", "untestable", "correct", "not-applicable", "not-run"];
  const MARKS = ["✕", "◐", "?", "H", "∅", "✓", "–", "○"];
  const BOUNDARIES = [...document.querySelectorAll("#heat .panel th[data-boundary]")].map((th) => th.dataset.boundary);
  const { texts, columns, n } = data;
  const late = new Set(data.late);
  const text = (name, row) => texts[name][columns[name][row]];
  const truthful = (row) => columns.flags[row] & 1;

  const strikeOf = texts.strike.map((strike) => strike.replace("/", "~"));
  const nameOf = (row) =>
    data.odd[row]
      ? data.odd[row][0]
      : [text("workload", row), text("adapter", row), text("boundary", row), text("variant", row), text("manifestation", row),
         text("transport", row), text("protocol", row), strikeOf[columns.strike[row]],
         text("persona", row) + "@" + columns.repeat[row]].join(".");
  const hasPage = (row) => columns.flags[row] & 2 || (late.size && late.has(nameOf(row)));
  const pageOf = (row) => "cells/" + encodeURIComponent(data.odd[row] ? data.odd[row][1] : nameOf(row) + ".html");

  // Ranks of texts, so that sorting compares numbers.
  const rank = {};
  for (const name of ["workload", "adapter", "boundary", "verdict"]) {
    const order = name === "boundary" ? BOUNDARIES : name === "verdict" ? VERDICTS : [...texts[name]].sort();
    rank[name] = texts[name].map((value) => (order.indexOf(value) + 1 || order.length + 1));
  }
  const by = (name) => (row) => rank[name][columns[name][row]];
  const count = (name) => (row) => -columns[name][row];
  const keys = {
    "": [by("verdict"), (row) => -truthful(row), count("extra"), count("missing"), by("boundary"), by("workload"), by("adapter")],
    boundary: [by("boundary"), by("workload"), by("adapter")],
    workload: [by("workload"), by("boundary"), by("adapter")],
    adapter: [by("adapter"), by("boundary"), by("workload")],
    verdict: [by("verdict"), by("boundary"), by("workload")],
    "-extra": [count("extra"), by("boundary")],
    "-missing": [count("missing"), by("boundary")],
    "-unresolved": [count("unresolved"), by("boundary")],
    "-misreported": [count("misreported"), by("boundary")],
    "-calls": [count("calls"), by("boundary")],
  };

  const fill = (name, values) => {
    for (const value of values) {
      const option = document.createElement("option");
      option.value = value[0];
      option.textContent = value[1];
      form.elements[name].append(option);
    }
  };
  const pairs = (values) => values.map((value) => [value, value]);
  const known = (name, order) => [...texts[name]].filter(Boolean).sort((a, b) => (order ? order.indexOf(a) - order.indexOf(b) : a < b ? -1 : 1));
  fill("boundary", pairs(known("boundary", BOUNDARIES)));
  fill("adapters", [["truthful", "keep their contract"], ["treacherous", "treacherous"]]);
  for (const name of ["contract", "workload", "adapter", "blame"]) fill(name, pairs(known(name)));
  fill("verdict", pairs(known("verdict", VERDICTS)));
  fill("shows", FIGURES.flatMap((figure) => [
    [figure, SIGNS[figure] + " " + figure],
    ...Object.keys(PARTS).filter((part) => PARTS[part] === figure).map((part) => [part, SIGNS[figure] + " " + figure + ": " + part]),
  ]));
  form.hidden = false;

  const NAMES = ["q", "boundary", "adapters", "contract", "workload", "adapter", "verdict", "shows", "blame", "sort"];
  const state = () => Object.fromEntries(NAMES.map((name) => [name, form.elements[name].value]).filter(([, value]) => value));
  const address = (filters) => new URLSearchParams(filters).toString();
  const read = () => {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return false;
    const given = new URLSearchParams(hash);
    for (const name of NAMES) {
      const field = form.elements[name];
      field.value = given.get(name) ?? "";
      if (field.value !== (given.get(name) ?? "")) field.value = "";
    }
    return true;
  };

  // What the text is looked for in: made once, when the first text is typed.
  let haystack = null;
  const words = (row) => {
    haystack ??= Array.from({ length: n }, (_, i) => (nameOf(i) + " " + text("reason", i) + " " + text("seen_as", i) + " " + text("reaction", i)).toLowerCase());
    return haystack[row];
  };

  let shown = [];
  let drawn = 0;
  let body = null;
  let more = null;

  const select = () => {
    const filters = state();
    const tests = [];
    for (const name of ["boundary", "contract", "workload", "adapter", "verdict", "blame"]) {
      if (!filters[name]) continue;
      const wanted = texts[name].indexOf(filters[name]);
      const column = columns[name];
      tests.push((row) => column[row] === wanted);
    }
    if (filters.adapters) {
      const wanted = filters.adapters === "truthful" ? 1 : 0;
      tests.push((row) => truthful(row) === wanted);
    }
    if (filters.shows) {
      const column = columns[filters.shows];
      const judged = new Set(["violated", "incomplete", "unresolved", "correct"].map((name) => texts.verdict.indexOf(name)));
      tests.push((row) => column[row] > 0 && judged.has(columns.verdict[row]));
    }
    for (const word of (filters.q ?? "").toLowerCase().split(/\s+/).filter(Boolean)) tests.push((row) => words(row).includes(word));
    const found = [];
    for (let row = 0; row < n; row++) if (tests.every((test) => test(row))) found.push(row);
    const order = (keys[filters.sort ?? ""] ?? keys[""]).map((key) => found.map(key));
    const index = found.map((_, i) => i);
    index.sort((a, b) => {
      for (const key of order) if (key[a] !== key[b]) return key[a] - key[b];
      return a - b;
    });
    return index.map((i) => found[i]);
  };

  const node = (tag, className, content) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  };

  const line = (row) => {
    const made = node("tr");
    made.tabIndex = -1;
    const verdict = text("verdict", row);
    const badge = node("span", "badge v-" + (VERDICTS.includes(verdict) ? verdict : "not-run"));
    badge.append(node("b", "", MARKS[VERDICTS.indexOf(verdict)] ?? ""), " " + verdict);
    badge.firstChild.setAttribute("aria-hidden", "true");
    const first = node("td");
    first.append(badge);
    const what = node("td");
    const label = `${BOUNDARIES.indexOf(text("boundary", row)) || "–"} ${text("boundary", row)} · ${text("workload", row)} · ${text("adapter", row)}`;
    if (hasPage(row)) {
      const link = node("a", "", label);
      made.dataset.page = link.href = pageOf(row) + "#from=" + encodeURIComponent(address(state()));
      what.append(link);
    } else {
      what.append(label);
    }
    if (!truthful(row)) what.append(node("span", "dim", " (treacherous)"));
    const how = ["variant", "manifestation", "transport", "protocol", "strike", "persona"].map((name) => text(name, row)).filter((value) => value && value !== "-");
    if (columns.repeat[row] > 1) how.push("@" + columns.repeat[row]);
    const signs = node("td", "shows");
    if (["violated", "incomplete", "unresolved", "correct"].includes(verdict)) {
      for (const figure of FIGURES) {
        const value = columns[figure][row];
        if (!value) continue;
        const sign = node("b", "", SIGNS[figure] + value);
        sign.title = figure;
        sign.append(node("span", "hide", " " + figure));
        signs.append(sign);
      }
    }
    const why = node("td", "", text("reason", row));
    if (text("blame", row)) why.append(node("span", "dim", " · blame " + text("blame", row)));
    if (!hasPage(row) && (text("seen_as", row) || verdict !== "not-applicable") && list.dataset.command) {
      why.append(document.createElement("br"), node("span", "dim cmd", `${list.dataset.command} --cell ${nameOf(row)}`));
    }
    made.append(first, what, node("td", "how", how.join(" ")), signs, why);
    return made;
  };

  const draw = () => {
    const upto = Math.min(shown.length, drawn + (drawn ? STEP : FIRST));
    const piece = document.createDocumentFragment();
    for (; drawn < upto; drawn++) piece.append(line(shown[drawn]));
    body.append(piece);
    if (body.firstChild && !body.querySelector("[tabindex='0']")) body.firstChild.tabIndex = 0;
    more.hidden = drawn >= shown.length;
    more.textContent = `Show ${Math.min(STEP, shown.length - drawn)} more of ${(shown.length - drawn).toLocaleString("en")}`;
  };

  const refresh = () => {
    const start = performance.now();
    shown = select();
    drawn = 0;
    const table = node("table", "list");
    const head = node("tr");
    for (const [title, sort] of [["verdict", "verdict"], ["cell", "boundary"], ["how", ""], ["shows", "-extra"], ["reason", ""]]) {
      const th = node("th");
      th.scope = "col";
      if (sort) {
        const button = node("button", "", title);
        button.type = "button";
        button.addEventListener("click", () => {
          form.elements.sort.value = form.elements.sort.value === sort ? "" : sort;
          changed();
        });
        th.append(button);
        if (form.elements.sort.value === sort) th.setAttribute("aria-sort", sort[0] === "-" ? "descending" : "ascending");
      } else {
        th.textContent = title;
      }
      head.append(th);
    }
    const thead = node("thead");
    thead.append(head);
    body = node("tbody");
    more = node("button", "more");
    more.type = "button";
    more.addEventListener("click", draw);
    table.append(thead, body);
    list.replaceChildren(table, more);
    draw();
    status.textContent = `${shown.length.toLocaleString("en")} of ${n.toLocaleString("en")} cells`;
    for (const name of NAMES) form.elements[name].classList.toggle("set", form.elements[name].value !== "");
    const took = performance.now() - start;
    window.benchFilterMs = took;
  };

  let timer = 0;
  const changed = () => {
    const told = address(state());
    history.replaceState(null, "", told ? "#" + told : location.pathname + location.search);
    refresh();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    timer = setTimeout(changed, event.target.name === "q" ? 90 : 0);
  });
  form.addEventListener("reset", () => setTimeout(changed));
  addEventListener("hashchange", () => {
    if (!read()) return;
    refresh();
    document.getElementById("cells").scrollIntoView();
  });

  // Heat maps: a square sets the filters. One square of each panel is in the order of focus, arrows move among them.
  const tip = node("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  const about = (td) => {
    const table = td.closest("table");
    const row = td.parentElement.querySelector("th").textContent;
    const boundary = table.tHead.rows[0].cells[td.cellIndex].dataset.boundary;
    return { by: td.closest(".heat").dataset.by, row, boundary, figure: table.dataset.figure, adapters: table.dataset.adapters };
  };
  const spoken = (td) => {
    const { row, boundary, figure } = about(td);
    if (td.classList.contains("no")) return `${row} at ${boundary}: no such cells`;
    if (td.classList.contains("na")) return `${row} at ${boundary}: none judged`;
    const [some, all] = td.classList.contains("ok") ? ["0", td.textContent.split("/")[1]] : td.textContent.split("/");
    return `${row} at ${boundary}: ${figure} in ${some} of ${all} judged cells`;
  };
  const open = (td) => {
    if (td.classList.contains("no")) return;
    const where = about(td);
    form.reset();
    form.elements[where.by].value = where.row;
    form.elements.boundary.value = where.boundary;
    form.elements.adapters.value = where.adapters;
    if (td.style.getPropertyValue("--p")) form.elements.shows.value = where.figure;
    clearTimeout(timer);
    setTimeout(() => {
      changed();
      document.getElementById("cells").scrollIntoView();
      body.firstChild?.focus({ preventScroll: true });
    });
  };
  const point = (td) => {
    tip.textContent = spoken(td);
    tip.hidden = false;
    const box = td.getBoundingClientRect();
    tip.style.left = Math.max(6, Math.min(innerWidth - tip.offsetWidth - 6, box.left)) + "px";
    tip.style.top = (box.top > tip.offsetHeight + 8 ? box.top - tip.offsetHeight - 6 : box.bottom + 6) + "px";
  };
  for (const panel of document.querySelectorAll(".panel")) {
    const squares = [...panel.tBodies[0].querySelectorAll("td")];
    if (squares.length) squares[0].tabIndex = 0;
    panel.addEventListener("focusin", (event) => {
      if (event.target.tagName !== "TD") return;
      event.target.setAttribute("aria-label", spoken(event.target));
      point(event.target);
    });
    panel.addEventListener("focusout", () => (tip.hidden = true));
    panel.addEventListener("pointerover", (event) => (event.target.tagName === "TD" ? point(event.target) : (tip.hidden = true)));
    panel.addEventListener("pointerleave", () => (tip.hidden = true));
    panel.addEventListener("click", (event) => event.target.closest("td") && open(event.target.closest("td")));
    panel.addEventListener("keydown", (event) => {
      const td = event.target.closest("td");
      if (!td) return;
      const rows = panel.tBodies[0].rows;
      const y = td.parentElement.sectionRowIndex;
      const moves = { ArrowLeft: [y, td.cellIndex - 1], ArrowRight: [y, td.cellIndex + 1], ArrowUp: [y - 1, td.cellIndex], ArrowDown: [y + 1, td.cellIndex] };
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open(td);
      } else if (moves[event.key]) {
        event.preventDefault();
        const target = rows[moves[event.key][0]]?.cells[moves[event.key][1]];
        if (target?.tagName !== "TD") return;
        td.tabIndex = -1;
        target.tabIndex = 0;
        target.focus();
      }
    });
  }
  for (const button of document.querySelectorAll("button.by")) {
    button.addEventListener("click", () => {
      for (const other of document.querySelectorAll("button.by")) other.setAttribute("aria-pressed", String(other === button));
      for (const heat of document.querySelectorAll(".heat")) heat.hidden = heat.dataset.by !== button.dataset.by;
    });
  }

  const step = (by) => {
    if (!body) return;
    const rows = [...body.rows];
    const at = rows.indexOf(document.activeElement?.closest?.("#list tbody tr"));
    if (at + by >= rows.length && drawn < shown.length) draw();
    const target = body.rows[Math.max(0, Math.min(body.rows.length - 1, at < 0 ? 0 : at + by))];
    if (!target) return;
    for (const row of body.querySelectorAll("[tabindex='0']")) row.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      form.reset();
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      event.preventDefault();
      form.elements.q.focus();
      form.elements.q.select();
    } else if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      step(event.key === "j" ? 1 : -1);
    } else if (event.key === "Enter" && event.target.dataset?.page) {
      location.href = event.target.dataset.page;
    }
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-page]");
    if (row && !event.target.closest("a") && !getSelection().toString()) location.href = row.dataset.page;
  });

  read();
  refresh();
  if (location.hash.includes("=")) document.getElementById("cells").scrollIntoView();
  window.benchReadyMs = performance.now() - began;
});
