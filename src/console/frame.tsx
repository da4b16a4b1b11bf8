/** The frame around every page: navigation, the signed-in user, and the light or dark theme. */
import { type Signal, signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { mayChange, session, signOut } from './api/session.js';
import icon from './icon.svg';
import { Palette, paletteKeys } from './palette/palette.js';
import { Badge } from './parts/badge.js';
import { BulkProgress } from './parts/bulk.js';
import { Questions } from './parts/dialog.js';
import { Icon } from './parts/icon.js';
import { Toasts } from './parts/toast.js';
import { PAGES } from './routes.js';

const THEME = 'millrace-theme';
const theme = signal(localStorage.getItem(THEME) ?? '');

function applyTheme(next: string): void {
  theme.value = next;
  localStorage.setItem(THEME, next);
  document.documentElement.dataset.theme = next;
}

if (theme.value !== '') document.documentElement.dataset.theme = theme.value;

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const isOpen = useSignal(false);
  const isFinding = useSignal(false);
  paletteKeys(() => {
    isFinding.value = !isFinding.value;
  });
  const find = () => {
    isOpen.value = false;
    isFinding.value = true;
  };
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Topbar isOpen={isOpen} />
      <Side isOpen={isOpen} onFind={find} />
      <main id="main" class="main" tabIndex={-1}>
        {children}
      </main>
      {isFinding.value && (
        <Palette
          onClose={() => {
            isFinding.value = false;
          }}
        />
      )}
      <Questions />
      <BulkProgress />
      <Toasts />
    </div>
  );
}

/** Opens the navigation on narrow screens. */
function Topbar({ isOpen }: { readonly isOpen: Signal<boolean> }) {
  return (
    <header class="topbar">
      <a class="brand" href="/console/">
        Millrace
      </a>
      <button
        type="button"
        class="button icon"
        aria-expanded={isOpen.value}
        aria-controls="side"
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <Icon name="menu" />
        <span class="visually-hidden">Menu</span>
      </button>
    </header>
  );
}

function Side({ isOpen, onFind }: { readonly isOpen: Signal<boolean>; onFind(): void }) {
  const { path } = useLocation();
  const close = () => {
    isOpen.value = false;
  };
  return (
    <aside id="side" class={`side ${isOpen.value ? 'is-open' : ''}`}>
      <div class="row between">
        <a class="brand" href="/console/" onClick={close}>
          <img src={icon} width="24" height="24" alt="" />
          Millrace
        </a>
        {isOpen.value && (
          <button type="button" class="button quiet icon" onClick={close}>
            <Icon name="close" />
            <span class="visually-hidden">Close the menu</span>
          </button>
        )}
      </div>
      <button type="button" class="button" onClick={onFind}>
        <Icon name="search" />
        <span class="grow">Find</span>
        <kbd class="small muted">Ctrl K</kbd>
      </button>
      <nav aria-label="Pages">
        {PAGES.filter((page) => page.isShown()).map(({ href, label, icon: picture }) => (
          <a key={href} href={href} aria-current={isAt(path, href) ? 'page' : undefined} onClick={close}>
            <Icon name={picture} />
            {label}
          </a>
        ))}
      </nav>
      <SignedIn />
    </aside>
  );
}

function isAt(path: string, href: string): boolean {
  return href === '/console/' ? /^\/console\/?$/.test(path) : path === href || path.startsWith(`${href}/`);
}

function SignedIn() {
  const who = session.value;
  if (who == null) return null;
  const isDark = theme.value === 'dark' || (theme.value === '' && matchMedia('(prefers-color-scheme: dark)').matches);
  return (
    <div class="foot">
      {!mayChange.value && <Badge tone="warn">read-only key</Badge>}
      <div class="small muted wrap-anywhere">
        {who.email}
        <br />
        {who.customer_id === who.email ? who.role : `${who.role} of a team`} · key {who.key}
      </div>
      <div class="row">
        <button type="button" class="button small" onClick={() => applyTheme(isDark ? 'light' : 'dark')}>
          <Icon name="moon" />
          {isDark ? 'Light' : 'Dark'}
        </button>
        <button type="button" class="button small" onClick={() => void signOut()}>
          <Icon name="out" />
          Sign out
        </button>
      </div>
    </div>
  );
}
