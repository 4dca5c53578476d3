// Runs before the first paint: the theme chosen last time; without a choice the system's, also when that changes.
{
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("mdplay-theme");
    } catch {
      return null; // storage is switched off
    }
  };
  const set = () => {
    const theme = chosen();
    document.documentElement.dataset.theme = ["light", "dark"].includes(theme) ? theme : system.matches ? "dark" : "light";
  };
  set();
  system.addEventListener("change", set);
}
