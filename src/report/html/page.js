// Makes the page handier. Without it, every operator stands below the drawings, and the links lead there.
(() => {
  "use strict";
  document.documentElement.classList.add("scripted");
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => act(made));
    return made;
  };
  let opener = null;

  const choose = (plans, id) => {
    for (const old of all(".chosen", plans)) old.classList.remove("chosen");
    for (const node of all("a.node", plans)) {
      const is = id === null ? false : node.getAttribute("href") === "#" + id;
      node.classList.toggle("chosen", is);
      if (is) node.setAttribute("aria-current", "true");
      else node.removeAttribute("aria-current");
    }
    const panel = id === null ? null : document.getElementById(id);
    if (panel) panel.classList.add("chosen");
    return panel;
  };
  const close = (plans) => {
    choose(plans, null);
    if (plans.contains(opener)) opener?.focus({ preventScroll: true });
    opener = null;
  };

  for (const plans of all(".plans")) {
    const operators = plans.querySelector(".operators");
    const scrolls = all(".graph > .scroll", plans);
    const tools = document.createElement("div");
    tools.className = "tools";
    const graphs = all(".graph", plans);
    const fit = (on) => graphs.forEach((graph) => graph.classList.toggle("fit", on));
    const wide = () => scrolls.some((s) => s.querySelector("svg").width.baseVal.value > s.clientWidth);
    if (wide()) {
      const toggle = button("Fit to width", (made) => {
        const on = made.getAttribute("aria-pressed") !== "true";
        made.setAttribute("aria-pressed", String(on));
        fit(on);
      });
      const scale = Math.min(...scrolls.map((s) => s.clientWidth / s.querySelector("svg").viewBox.baseVal.width));
      const on = scale > 0.68;
      toggle.setAttribute("aria-pressed", String(on));
      fit(on);
      const stack = button("One above the other", (made) => {
        made.setAttribute("aria-pressed", String(plans.querySelector(".graphs").classList.toggle("stacked")));
      });
      stack.setAttribute("aria-pressed", "false");
      tools.append(toggle, stack);
    }
    const list = button("List all operators", (made) => {
      const on = operators.classList.toggle("all");
      made.setAttribute("aria-pressed", String(on));
    });
    list.setAttribute("aria-pressed", "false");
    tools.append(list);
    plans.insertBefore(tools, plans.querySelector(".graphs"));
    for (const scroll of scrolls) {
      scroll.addEventListener("scroll", () => {
        for (const other of scrolls) if (other !== scroll) other.scrollLeft = scroll.scrollLeft;
      });
    }
    for (const panel of all(".operator", operators)) {
      const made = button("Close", () => close(plans));
      made.className = "close";
      panel.prepend(made);
    }
    plans.addEventListener("click", (event) => {
      const node = event.target.closest("a.node");
      if (!node || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      opener = node;
      const panel = choose(plans, node.getAttribute("href").slice(1));
      if (!panel) return;
      panel.scrollTop = 0;
      panel.focus({ preventScroll: true });
      panel.scrollIntoView({ block: "nearest" });
      // What was chosen stays in sight, above what is said of it.
      const hidden = node.getBoundingClientRect().bottom + 16 - panel.getBoundingClientRect().top;
      if (hidden > 0) scrollBy(0, hidden);
    });
    plans.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      if (plans.querySelector(".operator.chosen")) close(plans);
    });
  }

  // What is marked should be in sight.
  for (const pre of all(".sql pre")) {
    const mark = pre.querySelector("mark");
    if (mark) pre.scrollLeft = Math.max(0, mark.offsetLeft + mark.offsetWidth - pre.offsetLeft - pre.clientWidth + 16);
  }

  // A link to an operator from elsewhere, such as another page, shows it.
  const follow = () => {
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      return;
    }
    const target = id === "" ? null : document.getElementById(id);
    if (!target) return;
    for (let at = target.parentElement; at; at = at.parentElement) if (at.localName === "details") at.open = true;
    const plans = target.closest(".plans");
    if (plans) choose(plans, id);
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: plans ? "nearest" : "start" });
  };
  addEventListener("hashchange", follow);
  follow();

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details:not([open])");
    folded.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));
})();
