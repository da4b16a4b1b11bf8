/** A form field: label, input, hint and error. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly wrong?: string | undefined;
  readonly children: ComponentChildren;
}

export function Field({ label, hint, wrong, children }: FieldProps) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: its children contain the control
    <label class="field">
      <span>{label}</span>
      {children}
      {hint !== undefined && <span class="hint">{hint}</span>}
      {wrong !== undefined && <span class="wrong">{wrong}</span>}
    </label>
  );
}

export interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: Signal<string>;
  readonly type?: 'text' | 'number' | 'password' | 'email' | 'url' | 'datetime-local';
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isLong?: boolean;
  readonly rows?: number;
  /** Offered during typing; other texts are allowed. */
  readonly suggestions?: readonly string[];
  /** Its form is not sent while it is wrong. */
  readonly isBlocking?: boolean;
}

export function TextField({
  value,
  type = 'text',
  placeholder,
  isRequired = false,
  isLong = false,
  rows = 5,
  suggestions,
  isBlocking = false,
  ...field
}: TextFieldProps) {
  const list = useId();
  const { wrong } = field;
  const shared = {
    value: value.value,
    placeholder,
    required: isRequired,
    spellcheck: false,
    'aria-invalid': wrong !== undefined,
    ref: (element: HTMLInputElement | HTMLTextAreaElement | null) =>
      element?.setCustomValidity(isBlocking ? (wrong ?? '') : ''),
  };
  return (
    <Field {...field}>
      {isLong ? (
        <textarea
          {...shared}
          rows={rows}
          onInput={({ currentTarget }) => {
            value.value = currentTarget.value;
          }}
        />
      ) : (
        <input
          {...shared}
          type={type as 'text'}
          autocomplete="off"
          {...(suggestions !== undefined && { list })}
          onInput={({ currentTarget }) => {
            value.value = currentTarget.value;
          }}
        />
      )}
      {suggestions !== undefined && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Field>
  );
}

export interface ChoiceProps extends Omit<FieldProps, 'children'> {
  readonly value: Signal<string>;
  readonly options: readonly (readonly [value: string, label: string])[];
}

export function Choice({ value, options, ...field }: ChoiceProps) {
  return (
    <Field {...field}>
      <select
        value={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function Check({ value, label }: { readonly value: Signal<boolean>; readonly label: string }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked;
        }}
      />
      <span>{label}</span>
    </label>
  );
}

interface SubmitProps {
  readonly isDisabled?: boolean;
  readonly children: ComponentChildren;
}

export function SubmitButton({ isDisabled, children }: SubmitProps) {
  return (
    <button type="submit" class="button primary" disabled={isDisabled}>
      {children}
    </button>
  );
}

/** The last row of a form. */
export function SubmitRow(props: SubmitProps) {
  return (
    <div>
      <SubmitButton {...props} />
    </div>
  );
}
