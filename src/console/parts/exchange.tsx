/** One side of an HTTP exchange: its headers, and its body as text, JSON or bytes. */
import { shownOf, textOf } from '../api/kv.js';
import { Code, pretty } from './code.js';
import { bytes } from './format.js';

export type HeaderObject = Readonly<Record<string, readonly string[]>>;

/** Bytes of a binary body that are shown. */
const MAX_DRAWN_BYTES = 4_096;

export function Headers({ header }: { readonly header: HeaderObject | undefined }) {
  const rows = Object.entries(header ?? {}).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  if (rows.length === 0) return <p class="muted small">No headers</p>;
  return (
    <dl class="facts small mono">
      {rows.map(([name, value], at) => [
        <dt key={`${at} name`}>{name}</dt>,
        <dd key={`${at} value`} dir="auto">
          {value}
        </dd>,
      ])}
    </dl>
  );
}

export interface BodyProps {
  readonly text?: string | undefined;
  /** For a body that is binary or may be. */
  readonly base64?: string | undefined;
}

export function Body({ text, base64 }: BodyProps) {
  if (text !== undefined && text !== '') return <Code text={pretty(text)} />;
  if (base64 === undefined || base64 === '') return <p class="muted small">No body</p>;
  const binary = atob(base64);
  const decoded = textOf(binary);
  if (decoded !== undefined) return <Code text={pretty(decoded)} />;
  const isLong = binary.length > MAX_DRAWN_BYTES;
  return (
    <>
      <Code text={shownOf(`${binary.slice(0, MAX_DRAWN_BYTES)}`)} />
      <p class="muted small">
        {bytes(binary.length)} that are no UTF-8 text{isLong && `; the first ${bytes(MAX_DRAWN_BYTES)} are shown`}
      </p>
    </>
  );
}
