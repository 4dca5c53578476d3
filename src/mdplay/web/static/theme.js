// Runs before the first paint: the theme chosen last time; without a choice the system's.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("mdplay-theme");
  } catch {
    /* storage is switched off */
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
