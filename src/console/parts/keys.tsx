/** Single keys that act on a page, with a line that shows them. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

export interface PageKey {
  /** As in `KeyboardEvent.key`. */
  readonly key: string;
  /** Shown next to the key. */
  readonly label: string;
  run(): void;
}

const SHOWN: Readonly<Record<string, string>> = { Escape: 'Esc', Enter: '↵' };
const TEXTS = 'input:not([type=checkbox]), textarea, select, [contenteditable]';
const CONTROLS = 'a, button, summary';

/** The keys of the mounted parts of the page, for the list that `?` shows. */
export const pageKeys = signal<readonly (readonly PageKey[])[]>([]);

/** Keys have no effect while a text is typed or a modal dialog is open. Enter stays with a focused control. */
export function useKeys(keys: readonly PageKey[]): void {
  const current = useRef(keys);
  current.current = keys;
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      const one = current.current.find((each) => each.key === key);
      if (one === undefined || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog:modal') !== null) return;
      if (target instanceof Element && target.matches(key === 'Enter' ? `${TEXTS}, ${CONTROLS}` : TEXTS)) return;
      event.preventDefault();
      one.run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const names = keys.map(({ key, label }) => `${key} ${label}`).join('\n');
  useEffect(() => {
    const mine = current.current;
    pageKeys.value = [...pageKeys.value, mine];
    return () => {
      pageKeys.value = pageKeys.value.filter((each) => each !== mine);
    };
  }, [names]);
}

export function Key({ name }: { readonly name: string }) {
  return <kbd class="key">{SHOWN[name] ?? name}</kbd>;
}

/** Hidden on devices without a keyboard. */
export function KeyHints({ keys }: { readonly keys: readonly PageKey[] }) {
  return (
    <p class="key-hints small muted">
      {keys.map(({ key, label }) => (
        <span key={key}>
          <Key name={key} /> {label}
        </span>
      ))}
    </p>
  );
}
