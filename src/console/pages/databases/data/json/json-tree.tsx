/** A JSON document as an expandable tree; each part can be edited, removed or extended. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { mayChangeDatabases } from '../../../../api/session.js';
import { SmallButton } from '../../../../parts/button.js';
import { asked } from '../../../../parts/dialog.js';
import { whole } from '../../../../parts/format.js';
import { Icon } from '../../../../parts/icon.js';
import { type JsonPart, jsonParts } from '../../../../parts/json.js';
import { setter, toggler } from '../../../../parts/setter.js';
import { doing } from '../../../../parts/toast.js';
import { type JsonEdit, JsonPartDialog } from './json-part-dialog.js';

export interface JsonTreeProps {
  readonly text: string;
  /** Runs a command without its key: `JSON.SET`, a path, a value. @throws CallError */
  change(...words: readonly string[]): Promise<void>;
}

/** Children rendered first; more on demand. */
const STEP_CHILDREN = 200;
const SHOWN_CHARACTERS = 200;
/** Parts up to this depth are expanded at first. */
const OPEN_DEPTH = 2;

export function JsonTree({ text, change }: JsonTreeProps) {
  const root = useMemo(() => jsonParts(text), [text]);
  const edit = useSignal<JsonEdit | undefined>(undefined);
  const remove = async (path: string) => {
    const isSure = await asked({ title: 'Take it out?', text: path, action: 'Take it out', isDangerous: true });
    if (isSure) await doing(() => change('JSON.DEL', path), 'It is taken out.');
  };
  return (
    <>
      <ul class="json-tree">
        <Branch
          text={text}
          part={root}
          name="$"
          path="$"
          depth={0}
          onEdit={(next) => {
            edit.value = next;
          }}
          onRemove={(path) => void remove(path)}
        />
      </ul>
      {edit.value !== undefined && (
        <JsonPartDialog edit={edit.value} change={change} onClose={setter(edit, undefined)} />
      )}
    </>
  );
}

interface BranchProps {
  readonly text: string;
  readonly part: JsonPart;
  readonly name: string | number;
  readonly path: string;
  readonly depth: number;
  onEdit(edit: JsonEdit): void;
  onRemove(path: string): void;
}

function Branch(props: BranchProps) {
  const { text, part, name, path, depth } = props;
  const isOpen = useSignal(depth < OPEN_DEPTH);
  const limit = useSignal(STEP_CHILDREN);
  const { children } = part;
  return (
    <li>
      <div class="row json-row">
        {children.length > 0 && (
          <button
            type="button"
            class="json-fold"
            aria-expanded={isOpen.value}
            aria-label={`Open ${name}`}
            onClick={toggler(isOpen)}
          >
            <Icon name="chevron" />
          </button>
        )}
        <span class="json-name" dir="auto">
          {name}
        </span>
        <code class={`wrap-anywhere json-${part.kind}`} dir="auto">
          {previewOf(text, part)}
        </code>
        {mayChangeDatabases.value && <BranchActions {...props} />}
      </div>
      {isOpen.value && children.length > 0 && (
        <ul>
          {children.slice(0, limit.value).map(([child, below]) => (
            <Branch {...props} key={child} part={below} name={child} path={childPath(path, child)} depth={depth + 1} />
          ))}
          {children.length > limit.value && (
            <li>
              <SmallButton
                onClick={() => {
                  limit.value += STEP_CHILDREN;
                }}
              >
                {whole(children.length - limit.value)} more
              </SmallButton>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function BranchActions({ text, part, name, path, onEdit, onRemove }: BranchProps) {
  const { kind, from, to } = part;
  return (
    <span class="row nowrap json-actions">
      <button
        type="button"
        class="button quiet small"
        onClick={() => onEdit({ how: 'set', path, text: text.slice(from, to) })}
      >
        Edit<span class="visually-hidden"> {name}</span>
      </button>
      {(kind === 'object' || kind === 'array') && (
        <button type="button" class="button quiet small" onClick={() => onEdit({ how: kind, path, text: '' })}>
          Add<span class="visually-hidden"> to {name}</span>
        </button>
      )}
      {path !== '$' && (
        <button type="button" class="button quiet small" onClick={() => onRemove(path)}>
          Take out<span class="visually-hidden"> {name}</span>
        </button>
      )}
    </span>
  );
}

function childPath(path: string, child: string | number): string {
  return `${path}[${typeof child === 'number' ? child : JSON.stringify(child)}]`;
}

function previewOf(text: string, { kind, from, to, children }: JsonPart): string {
  if (kind === 'object') return `{ ${whole(children.length)} }`;
  if (kind === 'array') return `[ ${whole(children.length)} ]`;
  return to - from > SHOWN_CHARACTERS ? `${text.slice(from, from + SHOWN_CHARACTERS)}…` : text.slice(from, to);
}
