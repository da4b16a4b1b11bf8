/** Placeholders while loading, for an empty list, and after an error. */
import type { ComponentChildren } from 'preact';
import type { Asked } from '../api/ask.js';
import { SmallButton } from './button.js';
import { CopyButton } from './code.js';

export function Loading({ rows = 3 }: { readonly rows?: number }) {
  return (
    <div class="stack tight" aria-busy="true" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} class="skeleton" />
      ))}
    </div>
  );
}

export interface EmptyProps {
  readonly title: string;
  /** A hint on the next step. */
  readonly children?: ComponentChildren;
  /** The command that creates the first item. */
  readonly command?: string;
}

export function Empty({ title, children, command }: EmptyProps) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
      {command !== undefined && (
        <div class="row">
          <code class="wrap-anywhere">{command}</code>
          <CopyButton text={command} />
        </div>
      )}
    </div>
  );
}

export function Failure({ error, onRetry }: { readonly error: Error; onRetry?(): void }) {
  return (
    <div class="note bad" role="alert">
      <span class="grow">{error.message}</span>
      {onRetry !== undefined && <SmallButton onClick={() => onRetry()}>Try again</SmallButton>}
    </div>
  );
}

export interface ShownProps<T> {
  readonly asked: Asked<T>;
  readonly rows?: number;
  children(data: T): ComponentChildren;
}

/** The answer once it is loaded; it stays visible during a reload, with an error above it. */
export function Shown<T>({ asked, rows, children }: ShownProps<T>) {
  const { data, error } = asked;
  if (data === undefined) {
    return error === undefined ? (
      <Loading {...(rows !== undefined && { rows })} />
    ) : (
      <Failure error={error} onRetry={asked.reload} />
    );
  }
  return (
    <>
      {error !== undefined && <Failure error={error} onRetry={asked.reload} />}
      {children(data)}
    </>
  );
}
