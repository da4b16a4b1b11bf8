/** Finds pages and objects, and runs actions, by parts of their names (Ctrl-K). */
import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Dialog } from '../parts/dialog.js';
import { useFound } from './found.js';
import type { Found } from './found-item.js';
import { noteOpened } from './recent.js';

/** Calls back on Ctrl-K and Cmd-K, and on `?` outside of fields, while the frame is mounted. */
export function usePaletteKeys(toggle: (opened: 'palette' | 'keys') => void): void {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isFind = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      const isHelp = event.key === '?' && !isWriting(event.target);
      if (!isFind && !isHelp) return;
      event.preventDefault();
      toggle(isFind ? 'palette' : 'keys');
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

interface PaletteProps {
  onClose(): void;
  /** Shows the keyboard shortcuts in place of the palette. */
  onKeys(): void;
}

export function Palette({ onClose, onKeys }: PaletteProps) {
  const text = useSignal('');
  const at = useSignal(0);
  const list = useId();
  const { route } = useLocation();
  const found = useFound(text.value, onKeys);
  const current = Math.min(at.value, found.length - 1);
  const open = (one: Found | undefined) => {
    if (one === undefined) return;
    onClose();
    if (one.href === undefined) one.run?.();
    else if (one.href.startsWith('/console/')) {
      noteOpened(one);
      route(one.href);
    } else location.assign(one.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      at.value = (current + step + found.length) % found.length;
    } else if (event.key === 'Enter') open(found[current]);
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={`${list}-${current}`}
        aria-label="Search"
        placeholder="Page, action, key, label, id …"
        autofocus
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Found" class="palette-list">
        {found.map((one, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
          <div
            key={`${one.kind} ${one.label} ${one.href}`}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            onClick={() => open(one)}
          >
            <span class="cut">{one.label}</span>
            <span class="small muted">{one.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
