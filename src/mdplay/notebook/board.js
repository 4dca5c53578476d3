// A board to click.  Python draws it (shapes and words only) and decides everything; this file only reports clicks.
function draw(model, el) {
  el.innerHTML = model.get("picture") + model.get("words");
  for (const shape of el.querySelectorAll("[data-action]")) {
    shape.style.cursor = "pointer";
    shape.addEventListener("click", () => model.send({ action: Number(shape.dataset.action) }));
  }
  for (const [message, text] of model.get("buttons")) {
    const button = document.createElement("button");
    button.textContent = text;
    button.style.margin = "2px";
    button.addEventListener("click", () => model.send(message));
    el.append(button);
  }
}

export default {
  render({ model, el }) {
    const again = () => draw(model, el);
    model.on("change", again);
    again();
  },
};
