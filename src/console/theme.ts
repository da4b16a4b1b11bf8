/** The light or dark theme. Default: the setting of the system. */
import { computed, signal } from '@preact/signals';

const THEME = 'millrace-theme';
const theme = signal(localStorage.getItem(THEME) ?? '');

if (theme.value !== '') document.documentElement.dataset.theme = theme.value;

export const isDark = computed(
  () => theme.value === 'dark' || (theme.value === '' && matchMedia('(prefers-color-scheme: dark)').matches),
);

export function toggleTheme(): void {
  theme.value = isDark.value ? 'light' : 'dark';
  localStorage.setItem(THEME, theme.value);
  document.documentElement.dataset.theme = theme.value;
}
