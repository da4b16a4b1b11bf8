/** Notices in a corner of the page, and changes that can be undone before they are sent. */
import { signal } from '@preact/signals';
import { SmallButton } from './button.js';
import { Icon } from './icon.js';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  readonly action?: { readonly label: string; run(): void } | undefined;
}

const SHOWN_MS = 6_000;
const BAD_SHOWN_MS = 12_000;
const MAX_TOASTS = 4;

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

function show(toast: Omit<Toast, 'id'>, ms: number): () => void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { ...toast, id }].slice(-MAX_TOASTS);
  const close = () => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  };
  setTimeout(close, ms);
  return close;
}

export function said(text: string): void {
  show({ text, isBad: false }, SHOWN_MS);
}

export function failed(error: unknown): void {
  show({ text: error instanceof Error ? error.message : String(error), isBad: true }, BAD_SHOWN_MS);
}

/** Runs a change, and shows its result or error. @returns whether it succeeded */
export async function doing(work: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await work();
    said(done);
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
}

/**
 * A deletion that is sent after a few seconds without undo, or when the user leaves the page.
 * @param undone  shows the hidden items again
 */
export function withUndo(text: string, send: () => Promise<unknown>, undone: () => void): void {
  let isOpen = true;
  const finish = () => {
    if (!isOpen) return;
    isOpen = false;
    removeEventListener('pagehide', finish);
    send().catch((error: unknown) => {
      undone();
      failed(error);
    });
  };
  const close = show(
    {
      text,
      isBad: false,
      action: {
        label: 'Undo',
        run: () => {
          if (!isOpen) return;
          isOpen = false;
          removeEventListener('pagehide', finish);
          close();
          undone();
        },
      },
    },
    SHOWN_MS,
  );
  addEventListener('pagehide', finish);
  setTimeout(finish, SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isBad, action }) => (
        <div key={id} class={`toast ${isBad ? 'bad' : ''}`}>
          <span>{text}</span>
          {action === undefined ? (
            <Icon name={isBad ? 'warning' : 'check'} />
          ) : (
            <SmallButton onClick={() => action.run()}>{action.label}</SmallButton>
          )}
        </div>
      ))}
    </div>
  );
}
