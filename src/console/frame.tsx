/** The frame around every page: navigation, the signed-in user, and the light or dark theme. */

import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { mayChange, session, signOut, switchAccount } from './api/session.js';
import icon from './icon.svg';
import { Palette, usePaletteKeys } from './palette/palette.js';
import { Badge } from './parts/badge.js';
import { BulkProgress } from './parts/bulk.js';
import { Button, SmallButton } from './parts/button.js';
import { Dialog, Questions } from './parts/dialog.js';
import { Icon } from './parts/icon.js';
import { pageKeys } from './parts/keys.js';
import { toggler } from './parts/setter.js';
import { isUtc, showUtc } from './parts/time.js';
import { Toasts } from './parts/toast.js';
import { PAGES } from './routes.js';
import { isDark, toggleTheme } from './theme.js';

/** The keys of the console (`?`). */
const KEYS: readonly (readonly [keys: readonly string[], action: string])[] = [
  [['Ctrl', 'K'], 'Find a page, an object or an action'],
  [['?'], 'Show this list'],
  [['↑', '↓'], 'Choose a result'],
  [['Enter'], 'Open the result, or run the action'],
  [['Esc'], 'Close the dialog'],
  [['Tab'], 'Go to the next link, field or button'],
];

function Shortcuts({ onClose }: { onClose(): void }) {
  // Upper and lower case of a letter do the same, and are listed once.
  const ofPage = new Map(pageKeys.value.flat().map(({ key, label }) => [label, key]));
  const all = [...KEYS, ...[...ofPage].map(([label, key]) => [[key], `On this page: ${label}`] as const)];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {all.map(([keys, action]) => (
          <div key={action}>
            <dt>
              {keys.map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const isOpen = useSignal(false);
  const opened = useSignal<'palette' | 'keys' | undefined>(undefined);
  const toggle = (one: 'palette' | 'keys') => {
    opened.value = opened.value === one ? undefined : one;
  };
  // The browser reports the close of a dialog later, when the other one may be open.
  const close = (one: 'palette' | 'keys') => {
    if (opened.value === one) opened.value = undefined;
  };
  usePaletteKeys(toggle);
  const find = () => {
    isOpen.value = false;
    opened.value = 'palette';
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
      {opened.value === 'palette' && <Palette onClose={() => close('palette')} onKeys={() => toggle('keys')} />}
      {opened.value === 'keys' && <Shortcuts onClose={() => close('keys')} />}
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
        onClick={toggler(isOpen)}
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
      <Button onClick={onFind}>
        <Icon name="search" />
        <span class="grow">Find</span>
        <kbd class="small muted">Ctrl K</kbd>
      </Button>
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
  const user = session.value;
  if (user == null) return null;
  return (
    <div class="foot">
      {!mayChange.value && <Badge tone="warn">read-only key</Badge>}
      <div class="small muted wrap-anywhere">
        {user.email}
        <br />
        {user.customer_id === user.email ? user.role : `${user.role} of a team`} · key {user.key}
      </div>
      {(user.accounts?.length ?? 0) > 1 && (
        <select
          aria-label="Account"
          value={user.customer_id}
          onChange={(event) => void switchAccount(event.currentTarget.value)}
        >
          {user.accounts?.map(({ customer_id, name, role }) => (
            <option key={customer_id} value={customer_id}>{`${name} (${role})`}</option>
          ))}
        </select>
      )}
      <div class="row">
        <SmallButton onClick={toggleTheme}>
          <Icon name="moon" />
          {isDark.value ? 'Light' : 'Dark'}
        </SmallButton>
        <SmallButton
          aria-pressed={isUtc.value}
          title="Times in UTC instead of the zone of this browser"
          onClick={() => showUtc(!isUtc.value)}
        >
          UTC
        </SmallButton>
        <SmallButton onClick={() => void signOut()}>
          <Icon name="out" />
          Sign out
        </SmallButton>
      </div>
    </div>
  );
}
