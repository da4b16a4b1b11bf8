/** A value shown and edited as text, JSON or hex. */
import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { Button, SmallButton } from '../../../parts/button.js';
import { SubmitButton } from '../../../parts/field.js';
import { bytes } from '../../../parts/format.js';
import { failed } from '../../../parts/toast.js';
import { binaryFrom, formOf, shownAs, type ValueForm } from './value-text.js';

/** The typed replacement of a value. */
export interface ValueEdit {
  readonly form: Signal<ValueForm>;
  /** Undefined: not typed yet. */
  readonly typed: Signal<string | undefined>;
}

export function useValueEdit(value: string): ValueEdit {
  return { form: useSignal(formOf(value)), typed: useSignal<string | undefined>(undefined) };
}

/** The bytes of the field. @throws Error about invalid input */
export function editedBytes(value: string, { form, typed }: ValueEdit): string {
  return typed.value === undefined ? value : binaryFrom(typed.value, form.value);
}

export interface ValueFieldProps {
  readonly label: string;
  /** A binary string. */
  readonly value: string;
  readonly edit: ValueEdit;
  readonly isReadOnly?: boolean;
  readonly rows?: number;
}

const FORMS: readonly (readonly [ValueForm, string])[] = [
  ['text', 'Text'],
  ['json', 'JSON'],
  ['hex', 'Hex'],
];

const WHY_NOT: Readonly<Record<ValueForm, string>> = {
  text: 'Its bytes are no text.',
  json: 'This is no JSON.',
  hex: 'It is too long to be shown so.',
};

/** Browsers take seconds to wrap a longer text and to find its direction. */
const MAX_WRAPPED_CHARACTERS = 100_000;

export function ValueField({ label, value, edit, isReadOnly = false, rows = 6 }: ValueFieldProps) {
  const { form, typed } = edit;
  const field = useId();
  /** Converts the typed text to the other form, if possible. */
  const change = (next: ValueForm) => {
    try {
      const shown = shownAs(editedBytes(value, edit), next);
      if (shown === undefined) throw new Error(WHY_NOT[next]);
      if (typed.value !== undefined) typed.value = shown;
      form.value = next;
    } catch (error) {
      failed(error);
    }
  };
  const shown = typed.value ?? shownAs(value, form.value) ?? '';
  const isLong = shown.length > MAX_WRAPPED_CHARACTERS;
  return (
    <div class="stack tight">
      <div class="row between">
        <label for={field} class="small muted">
          {label}, {bytes(value.length)}
        </label>
        <fieldset class="choices">
          <legend class="visually-hidden">{label} shown as</legend>
          {FORMS.map(([id, text]) => (
            <SmallButton key={id} aria-pressed={form.value === id} onClick={() => change(id)}>
              {text}
            </SmallButton>
          ))}
        </fieldset>
      </div>
      <textarea
        id={field}
        class={`value-text ${isLong ? 'is-long' : ''}`}
        dir={isLong ? 'ltr' : 'auto'}
        rows={rows}
        value={shown}
        readOnly={isReadOnly}
        spellcheck={false}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
    </div>
  );
}

export interface ValueEditorProps extends Omit<ValueFieldProps, 'edit'> {
  /** Resolves when `value` is the saved value. */
  save(binary: string): Promise<unknown>;
}

export function ValueEditor({ save, ...props }: ValueEditorProps) {
  const edit = useValueEdit(props.value);
  const { typed } = edit;
  const undo = () => {
    typed.value = undefined;
  };
  const send = async (event: Event) => {
    event.preventDefault();
    const sent = typed.value;
    try {
      await save(editedBytes(props.value, edit));
      // Text typed during the save stays.
      if (typed.value === sent) undo();
    } catch (error) {
      failed(error);
    }
  };
  return (
    <form class="stack tight" onSubmit={send}>
      <ValueField {...props} edit={edit} />
      {props.isReadOnly !== true && (
        <div class="row">
          <SubmitButton isDisabled={typed.value === undefined}>Save</SubmitButton>
          {typed.value !== undefined && <Button onClick={undo}>Undo edits</Button>}
        </div>
      )}
    </form>
  );
}
