/** Finds pages and objects by parts of their names (Ctrl-K). */
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Dialog } from '../parts/dialog.js';
import { type Found, useFound } from './found.js';

/** Calls back on Ctrl-K and Cmd-K while the frame is mounted. */
export function paletteKeys(toggle: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      toggle();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

export function Palette({ onClose }: { onClose(): void }) {
  const text = useSignal('');
  const at = useSignal(0);
  const list = useId();
  const { route } = useLocation();
  const found = useFound(text.value);
  const current = Math.min(at.value, found.length - 1);
  const open = (one: Found | undefined) => {
    if (one === undefined) return;
    route(one.href);
    onClose();
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
        placeholder="A page, a database, a key, msg_…, wfr_…"
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
            key={one.href}
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
