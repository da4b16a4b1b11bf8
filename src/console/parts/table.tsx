/** The table of all pages. On narrow pages each row becomes a card, a list of its cells. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { SmallButton } from './button.js';

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): ComponentChildren;
  readonly isNumber?: boolean;
  /** Hidden on narrow pages. */
  readonly isWideOnly?: boolean;
}

export interface Selection<Id extends string> {
  readonly chosen: ReadonlySet<Id>;
  set(chosen: ReadonlySet<Id>): void;
}

interface ChosenOf {
  readonly list: string;
  readonly chosen: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** @param list identifies the list; another list starts without a selection */
export function useChosen(list: string): Selection<string> {
  const state = useSignal<ChosenOf>({ list, chosen: NONE });
  const { value } = state;
  return {
    chosen: value.list === list ? value.chosen : NONE,
    set: (chosen) => {
      state.value = { list, chosen };
    },
  };
}

export interface TableProps<Row> {
  /** A description for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  idOf(row: Row): string;
  /** Makes rows selectable, for bulk actions. */
  readonly selection?: Selection<string> | undefined;
  /** The row whose details are open, or that keys have reached. */
  readonly current?: string | undefined;
  /** Shown instead of an empty table. */
  readonly empty?: ComponentChildren;
}

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { label, columns, rows, idOf, selection, current, empty } = props;
  if (rows.length === 0 && empty !== undefined) return <div class="table-box">{empty}</div>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <section class="table-box" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {selection !== undefined && (
              <th scope="col">
                <ChooseAll label={label} ids={rows.map(idOf)} selection={selection} />
              </th>
            )}
            {columns.map(({ title, isNumber, isWideOnly }) => (
              <th key={title} scope="col" class={classOf(isNumber, isWideOnly)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <TableRow key={idOf(row)} id={idOf(row)} {...{ row, columns, selection, current }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps<Row> extends Pick<TableProps<Row>, 'columns' | 'selection' | 'current'> {
  readonly id: string;
  readonly row: Row;
}

function TableRow<Row>({ id, row, columns, selection, current }: RowProps<Row>) {
  const isChosen = selection?.chosen.has(id);
  return (
    <tr aria-selected={isChosen} aria-current={id === current ? 'true' : undefined}>
      {selection !== undefined && (
        <td>
          <input
            type="checkbox"
            aria-label={`Choose ${id}`}
            checked={isChosen === true}
            onChange={() => selection.set(toggled(selection.chosen, id))}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.title} class={classOf(column.isNumber, column.isWideOnly)} data-title={column.title}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

interface ChooseAllProps {
  readonly label: string;
  readonly ids: readonly string[];
  readonly selection: Selection<string>;
}

function ChooseAll({ label, ids, selection }: ChooseAllProps) {
  const isAll = ids.length > 0 && ids.every((id) => selection.chosen.has(id));
  return (
    <input
      type="checkbox"
      aria-label={`Choose all of ${label}`}
      checked={isAll}
      onChange={() => selection.set(new Set(isAll ? [] : ids))}
    />
  );
}

function toggled(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(chosen);
  if (!next.delete(id)) next.add(id);
  return next;
}

function classOf(isNumber = false, isWideOnly = false): string {
  return `${isNumber ? 'end' : ''} ${isWideOnly ? 'wide-only' : ''}`.trim();
}

export interface PagingProps {
  /** The range of the rows: "1 to 100 of 2,340". */
  readonly text: string;
  readonly onFirst?: (() => void) | undefined;
  readonly onNext?: (() => void) | undefined;
}

export function Paging({ text, onFirst, onNext }: PagingProps) {
  return (
    <div class="table-foot">
      <span>{text}</span>
      <span class="row">
        <SmallButton disabled={onFirst === undefined} onClick={onFirst}>
          First
        </SmallButton>
        <SmallButton disabled={onNext === undefined} onClick={onNext}>
          Next
        </SmallButton>
      </span>
    </div>
  );
}
