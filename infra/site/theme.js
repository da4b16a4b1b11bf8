/* Runs before the first paint: the theme that was chosen here or in the console. */
try {
  const theme = localStorage.getItem('millrace-theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // A browser without storage shows the theme of the system.
}
