// A dialog over the page: the browser's own, closed by Escape, by its cross or by a click beside it.
import { $, h } from "./dom.js";
import { icon } from "./icons.js";

export function dialog(title, ...content) {
  $("dialog")?.remove();
  const close = h(
    "button",
    { className: "quiet", type: "button", "aria-label": "Close", onclick: () => box.close() },
    icon("close"),
  );
  const head = h("div", { className: "sheet-head" }, h("h2", { tabIndex: -1, autofocus: true }, title), close);
  const box = h(
    "dialog",
    {
      "aria-label": title,
      onclick: (event) => {
        if (event.target === box) box.close();
      },
      onclose: () => box.remove(),
    },
    h("div", { className: "sheet" }, head, content),
  );
  document.body.append(box);
  box.showModal();
  return box;
}

export const closeDialog = () => $("dialog")?.close();
