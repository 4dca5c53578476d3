// The page: one shell, a module for each thing that it shows.
import { $, h, put, remember, s } from "./lib/dom.js";
import { Offline, get, reconnected } from "./lib/api.js";
import { icon } from "./lib/icons.js";
import { capital } from "./lib/words.js";

const WAYS = [
  ["", "Games"],
  ["plan", "Plan"],
  ["bandits", "Bandits"],
  ["reinforcement", "Reinforcement"],
  ["learn", "Learn"],
  ["tournament", "Tournament"],
  ["reproduction", "Reproduction"],
];
const PAGES = {
  plan: () => import("./pages/plan.js"),
  bandits: () => import("./pages/bandits.js"),
  reinforcement: () => import("./pages/reinforcement.js"),
  learn: () => import("./pages/learn.js"),
  tournament: () => import("./pages/tournament.js"),
  reproduction: () => import("./pages/reproduction.js"),
};

/** Light or dark: from now on, and the next time. */
function theme() {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
  remember("theme", dataset.theme);
}

const logo = () =>
  s(
    "svg",
    { class: "logo", viewBox: "0 0 21 13", "aria-hidden": "true" },
    s("circle", { class: "one", cx: 6.5, cy: 6.5, r: 6 }),
    s("circle", { class: "two", cx: 14.5, cy: 6.5, r: 6 }),
    s("path", { class: "both", d: "M10.5 2.03a6 6 0 0 1 0 8.94 6 6 0 0 1 0-8.94z" }),
  );

function bar(here, title, game) {
  const links = () =>
    WAYS.map(([path, text]) => h("a", { href: `/${path}`, "aria-current": path === here ? "page" : null }, text));
  put(
    $("#top"),
    h("a", { class: "brand", href: "/", "aria-label": "mdplay, all games" }, logo(), "mdplay"),
    game ? h("h1", { class: "where" }, title) : null,
    h("nav", { class: "ways", "aria-label": "Pages" }, links()),
    h(
      "details",
      { class: "menu" },
      h("summary", { class: "quiet", "aria-label": "Menu" }, icon("menu")),
      h("nav", { class: "ways", "aria-label": "Menu" }, links()),
    ),
    h(
      "button",
      {
        class: "quiet",
        type: "button",
        id: "theme",
        title: "Light or dark (T)",
        "aria-label": "Light or dark",
        onclick: theme,
      },
      icon("theme"),
    ),
  );
}

async function open(path) {
  const main = $("#main");
  if (path in PAGES) {
    bar(path, "", false);
    document.title = `${WAYS.find(([one]) => one === path)[1]} · mdplay`;
    return (await PAGES[path]()).show(main);
  }
  const params = new URLSearchParams(location.search).get("params");
  const [games, module, agents] = await Promise.all([
    get("/games", { pictures: !path }),
    path ? import("./game/game.js") : import("./pages/home.js"),
    path && !path.includes("/") && get(`/games/${path}/agents`, { params }).catch(() => null),
  ]);
  const info = games.find((game) => game.id === path);
  if (info && agents) info.agents = agents; // those who learned the game here are among them
  bar(path, info?.title, Boolean(info));
  document.title = info ? `${info.title} · mdplay` : "mdplay: the value of every move";
  if (path && !info) document.title = "Not found · mdplay";
  if (!info) return path ? lost(main) : module.show(main, games);
  return module.openGame(main, info, theme);
}

const lost = (main) =>
  put(
    main,
    h(
      "div",
      { class: "plain" },
      h("h1", {}, "There is no page at this address"),
      h("p", {}, h("a", { href: "/" }, "All games")),
    ),
  );

async function start() {
  bar("", "", false);
  try {
    await open(decodeURIComponent(location.pathname.slice(1)));
  } catch (error) {
    put($("#main"), h("p", { class: "plain", role: "alert" }, `${capital(error.message)}.`));
    if (error instanceof Offline) reconnected().then(() => location.reload());
  }
  document.documentElement.dataset.ready = "yes";
}

start();
