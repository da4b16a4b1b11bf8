/** A modal dialog; the browser keeps the focus in it, and Escape closes it. */
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.js';
import { Icon } from './icon.js';

export interface DialogProps {
  readonly title: string;
  readonly isLarge?: boolean;
  readonly foot?: ComponentChildren;
  readonly children: ComponentChildren;
  onClose(): void;
}

const FIELDS = '.dialog-body :is(input, select, textarea)';

export function Dialog({ title, isLarge = false, foot, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const { current } = element;
    current?.showModal();
    // The browser focuses the first control, which closes the dialog, unless one has `autofocus`.
    if (current?.querySelector('[autofocus]') === null) current.querySelector<HTMLElement>(FIELDS)?.focus();
  }, []);
  return (
    <dialog ref={element} class={isLarge ? 'large' : ''} aria-labelledby={heading} onClose={onClose}>
      <div class="dialog-head">
        <h2 id={heading} class="wrap-anywhere">
          {title}
        </h2>
        <button type="button" class="button quiet icon" aria-label="Close" onClick={() => element.current?.close()}>
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body stack">{children}</div>
      {foot !== undefined && <div class="dialog-foot">{foot}</div>}
    </dialog>
  );
}

export interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  /** The label of the confirming button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Must be typed first, for large deletions. */
  readonly typed?: string;
}

interface OpenQuestion extends Question {
  answer(isYes: boolean): void;
}

const open = signal<OpenQuestion | undefined>(undefined);

/** Asks for a confirmation. */
export function asked(question: Question): Promise<boolean> {
  open.value?.answer(false);
  return new Promise((resolve) => {
    open.value = {
      ...question,
      answer: (isYes) => {
        open.value = undefined;
        resolve(isYes);
      },
    };
  });
}

/** Mounted once, in the frame. */
export function Questions() {
  const question = open.value;
  return question === undefined ? null : <Asking key={question.title} question={question} />;
}

function Asking({ question }: { readonly question: OpenQuestion }) {
  const { title, text, action, isDangerous = false, typed, answer } = question;
  const written = useSignal('');
  const foot = (
    <>
      <Button autofocus={isDangerous && typed === undefined} onClick={() => answer(false)}>
        Cancel
      </Button>
      <button
        type="button"
        class={`button primary ${isDangerous ? 'danger' : ''}`}
        autofocus={!isDangerous && typed === undefined}
        disabled={typed !== undefined && written.value !== typed}
        onClick={() => answer(true)}
      >
        {action}
      </button>
    </>
  );
  return (
    <Dialog title={title} foot={foot} onClose={() => answer(false)}>
      <div>{text}</div>
      {typed !== undefined && (
        <label class="field">
          <span>
            Type <code>{typed}</code> to go on
          </span>
          <input
            value={written.value}
            autocomplete="off"
            autofocus
            onInput={({ currentTarget }) => {
              written.value = currentTarget.value;
            }}
          />
        </label>
      )}
    </Dialog>
  );
}
