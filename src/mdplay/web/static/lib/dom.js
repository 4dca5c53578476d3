// Elements made of data.  Text only ever becomes text; a picture passes a list of what is allowed.

const SVG = "http://www.w3.org/2000/svg";
const TAGS = new Set("svg g rect circle ellipse line polygon polyline path text tspan title".split(" "));
const ATTRIBUTES = new Set(
  (
    "class viewBox width height x y cx cy r rx ry x1 y1 x2 y2 dx dy points d transform opacity fill fill-opacity stroke " +
    "stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-dasharray font-size font-weight text-anchor " +
    "data-action data-at data-fall aria-label xml:space"
  ).split(" "),
);
const UNSAFE = /url\s*\(|javascript:|expression/i;

export const $ = (selector, root = document) => root.querySelector(selector);

/** Make an HTML element: properties, `on...` listeners, children. */
export const h = (tag, given, ...children) => fill(document.createElement(tag), given, children);

/** Make an SVG element. */
export const s = (tag, given, ...children) => fill(document.createElementNS(SVG, tag), given, children);

function fill(node, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) set(node, name, value);
  node.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function set(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (node instanceof HTMLElement && name in node && name !== "list") node[name] = value;
  else node.setAttribute(name, value === true ? "" : value);
}

/** Put children in place of those that a node has; nothing stands for no child. */
export function put(node, ...children) {
  node.replaceChildren(
    ...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/** Return a game's picture as elements of this document: shapes, words and marks, and nothing that acts. */
export function picture(text) {
  const root = new DOMParser().parseFromString(text ?? "", "image/svg+xml").documentElement;
  return root.nodeName === "svg" ? allowed(root) : s("svg", { viewBox: "0 0 10 10" });
}

function allowed(from) {
  const to = document.createElementNS(SVG, from.nodeName);
  for (const { name, value } of from.attributes) {
    if (ATTRIBUTES.has(name) && !UNSAFE.test(value)) to.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) to.append(child.textContent);
    else if (TAGS.has(child.nodeName)) to.append(allowed(child));
  }
  return to;
}

/** Tell whether nothing should move. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

let saying,
  lead = "";

/** Tell those who listen to the page; of what comes at once only the newest. */
export function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    $("#say").textContent = `${lead} ${text}`.trim();
    lead = "";
  }, 60);
}

/** Tell something that stays in front of what comes at once. */
export function sayFirst(text) {
  lead = text;
  say("");
}

let toasting;

/** Tell everybody, for a moment. */
export function toast(text) {
  const node = $("#toast");
  node.textContent = text;
  node.classList.add("up");
  say(text);
  clearTimeout(toasting);
  toasting = setTimeout(() => node.classList.remove("up"), 2200);
}

/** Keep a choice in this browser; read it back with `remembered`. */
export function remember(name, value) {
  try {
    localStorage.setItem(`mdplay-${name}`, value);
  } catch {
    /* storage is switched off */
  }
}

export function remembered(name) {
  try {
    return localStorage.getItem(`mdplay-${name}`);
  } catch {
    return null;
  }
}

/** Keep data in this tab until it is closed; read it back with `keptForNow`. */
export function keepForNow(name, data) {
  try {
    sessionStorage.setItem(`mdplay-${name}`, JSON.stringify(data));
  } catch {
    /* storage is switched off, or full */
  }
}

export function keptForNow(name) {
  try {
    return JSON.parse(sessionStorage.getItem(`mdplay-${name}`));
  } catch {
    return null;
  }
}

/** Put children in place of those that a node has; the child with the same `data-key` keeps the focus. */
export function renew(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  put(node, ...children);
  if (key === undefined) return;
  const same = [...node.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  (same ?? node).focus({ preventScroll: true });
}

/** Offer a text as a file. */
export function download(name, text, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
