// Reproduction: five systems, computed anew on this machine, figure by figure.
import { h, picture, put } from "../lib/dom.js";
import { get } from "../lib/api.js";
import { Runner } from "../lib/lab.js";

export async function show(main) {
  const { systems, page } = await get("/reproduction");
  new Reproduction(main, systems, page);
}

class Reproduction {
  constructor(main, systems, page) {
    const section = ({ number }) => h("section", { class: "chapter", "aria-labelledby": `system-${number}` });
    this.sections = new Map(systems.map((system) => [system.number, section(system)]));
    main.className = "lab";
    put(
      main,
      h(
        "div",
        { class: "lab-lead" },
        h("h1", {}, "Five papers, reproduced"),
        h(
          "p",
          {},
          "Every figure here is computed on this machine; under each stands the command that gives the same. " +
            "What is finished is kept.",
        ),
        page ? h("p", {}, h("a", { href: page }, "The page that mdplay reproduce wrote, at full size")) : null,
      ),
      h("div", { class: "chapters" }, [...this.sections.values()]),
    );
    for (const system of systems) this.waiting(system);
  }

  /** A system that was not run yet: its name, and a button; a finished one is shown at once. */
  waiting(system) {
    const path = `/reproduction/${system.number}`;
    const on = {
      stats: ({ done }) => runner.tell(`Working … ${done} figures so far`),
      chapter: (chapter) => this.show(chapter),
    };
    const runner = new Runner("Run (short version)", () => runner.run(`${path}/run`, {}, on));
    put(
      this.sections.get(system.number),
      heading(system),
      h("form", { onsubmit: runner.submit }, runner.button, runner.state),
    );
    if (system.done)
      get(path).then(
        (chapter) => this.show(chapter),
        () => null,
      );
  }

  show(chapter) {
    const section = this.sections.get(chapter.number);
    if (section)
      put(
        section,
        heading(chapter),
        h("p", { class: "chapter-headline" }, chapter.headline),
        chapter.figures.map((figure) => figureBox(figure, chapter.number)),
      );
  }
}

const heading = ({ number, title }) => h("h2", { id: `system-${number}` }, `${number}. ${title}`);

const figureBox = (figure, number) =>
  h(
    "article",
    { class: "figure-box" },
    h("h3", {}, figure.title),
    figure.text ? h("p", {}, figure.text) : null,
    figure.table ? table(figure.table, `${figure.title}, system ${number}`) : null,
    figure.picture ? plot(figure) : null,
    figure.drawings.map(drawn),
    h("code", { class: "command" }, figure.command),
  );

/** A picture with the words below it. */
const drawn = ({ svg, caption }) =>
  h("figure", { class: "drawing" }, picture(svg), caption ? h("figcaption", {}, caption) : null);

/** A plot for light and one for dark surroundings; the style sheet shows the right one. */
const plot = ({ picture: plots, title }) =>
  ["light", "dark"].map((theme) =>
    h("img", {
      class: `plot for-${theme}`,
      src: `data:image/png;base64,${plots[theme]}`,
      alt: title,
      loading: "lazy",
    }),
  );

const isNumber = (text) => /^[-+−]?[\d.,]+( ?[%kM])?$/.test(text.trim());

const table = ({ header, rows, prose }, title) =>
  h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": `Table: ${title}` },
    h(
      "table",
      { class: prose ? "facts prose" : "facts" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          header.map((text) => (text ? h("th", { scope: "col" }, text) : h("td", {}))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((text, i) => h("td", { class: isNumber(text) ? "num" : "", "data-label": header[i] }, text)),
          ),
        ),
      ),
    ),
  );
