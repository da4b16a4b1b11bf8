/** A command line for a database: history, completion, help, and replies in the format of redis-cli. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useAsk } from '../../../api/ask.js';
import { mayChangeDatabases } from '../../../api/session.js';
import { isTexts, readStored, writeStored } from '../../../api/stored.js';
import { SmallButton } from '../../../parts/button.js';
import { CodeText } from '../../../parts/code-text.js';
import { asked } from '../../../parts/dialog.js';
import { duration } from '../../../parts/format.js';
import { addressesOf, clientLine } from '../connect/addresses.js';
import type { DatabaseView } from '../records.js';
import { dangerOf, hasSecret, needsConnection } from './judged-line.js';
import { commandOf, completionsOf, type KnownCommand, knownCommands, wordsTold } from './known-commands.js';
import { type Exchange, lineSession, run, told } from './line-session.js';
import { wordsOf } from './words.js';

/** The history of typed lines, stored by the browser for each database. */
const MAX_LINES = 300;

function pastLines(id: string): readonly string[] {
  return readStored(nameOf(id), isTexts) ?? [];
}

/** Adds a line, unless it repeats the last one or contains a secret. @returns the whole history */
function keptLine(id: string, line: string): readonly string[] {
  const before = pastLines(id);
  if (hasSecret(line) || before.at(-1) === line) return before;
  const lines = [...before, line].slice(-MAX_LINES);
  writeStored(nameOf(id), lines);
  return lines;
}

function nameOf(id: string): string {
  return `millrace-lines-${id}`;
}

export default function CommandLine({ database }: { readonly database: DatabaseView }) {
  const id = database.database_id;
  const { exchanges, collected } = lineSession(id);
  const typed = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const known = useAsk(`commands ${id}`, () => knownCommands(id));
  const { host, port } = addressesOf(database, false);
  const commands = known.data ?? [];
  const begun = `${host}:${port}${collected.value === undefined ? '' : '(TX)'}> `;
  const submit = async (line: string) => {
    typed.value = '';
    keptLine(id, line);
    await submitted(database, line, commands);
  };
  return (
    <section class="line-page stack tight" aria-label="Command line">
      <Exchanges all={exchanges.value} prompt={begun} onOpen={() => field.current?.focus()} />
      <LineField
        id={id}
        prompt={begun}
        typed={typed}
        field={field}
        commands={commands}
        onSubmit={(line) => void submit(line)}
      />
      <Help typed={typed} commands={commands} field={field} />
    </section>
  );
}

async function submitted(database: DatabaseView, line: string, commands: readonly KnownCommand[]): Promise<void> {
  const id = database.database_id;
  const session = lineSession(id);
  let words: readonly string[];
  try {
    words = wordsOf(line);
  } catch (error) {
    told(session, line, (error as Error).message, true);
    return;
  }
  const [first = ''] = words;
  if (first === '') return;
  if (/^clear$/i.test(first)) {
    session.exchanges.value = [];
    return;
  }
  if (/^help$/i.test(first)) {
    told(session, line, helpOn(commands, words.slice(1).join(' ')));
    return;
  }
  if (needsConnection(words)) {
    const instead = /^monitor$/i.test(first) ? 'The Diagnosis tab shows commands as they run. ' : '';
    const explanation = 'This command needs a dedicated connection, which the console does not have. In a terminal: ';
    told(session, line, instead + explanation + clientLine(database), true);
    return;
  }
  const danger = dangerOf(words);
  const typedName = /^flush/i.test(first) ? { typed: database.database_name } : {};
  const question = { title: 'Run it?', action: 'Run it', isDangerous: true, ...typedName };
  if (danger !== undefined && mayChangeDatabases.value && !(await asked({ ...question, text: danger }))) {
    told(session, line, '(not run)');
    return;
  }
  await run(id, line, words);
}

function helpOn(commands: readonly KnownCommand[], name: string): string {
  const found = name === '' ? undefined : commandOf(commands, name);
  if (found === undefined)
    return 'HELP and a command tells of it; Tab completes; CLEAR empties the page; arrows bring lines back.';
  const { summary, group, since, words } = found;
  return `${found.name}: ${summary}\n${[wordsTold(words), group, since && `since ${since}`].filter(Boolean).join(' · ')}`;
}

interface ExchangesProps {
  readonly all: readonly Exchange[];
  readonly prompt: string;
  onOpen(): void;
}

function Exchanges({ all, prompt, onOpen }: ExchangesProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [all]);
  useEffect(onOpen, []);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
    <div ref={box} class="line-box" role="log" aria-label="Replies" tabIndex={0}>
      {all.length === 0 && (
        <p class="muted">
          <CodeText text="Type a command, `HELP` for help. Tab completes, the arrow keys recall earlier commands." />
        </p>
      )}
      {all.map(({ at, line, reply, isBad, tookMs }) => (
        <div key={at}>
          <div class="row between nowrap">
            <code class="line-typed" dir="auto">
              <span class="muted">{prompt.replace('(TX)', '')}</span>
              {line}
            </code>
            <span class="small muted">{tookMs === undefined ? '' : duration(tookMs)}</span>
          </div>
          <pre class={isBad ? 'line-bad' : ''} dir="auto">
            {reply ?? '…'}
          </pre>
        </div>
      ))}
    </div>
  );
}

interface LineFieldProps {
  readonly id: string;
  readonly prompt: string;
  readonly typed: Signal<string>;
  readonly field: { readonly current: HTMLInputElement | null };
  readonly commands: readonly KnownCommand[];
  onSubmit(line: string): void;
}

function LineField({ id, prompt, typed, field, commands, onSubmit }: LineFieldProps) {
  /** Steps back in the history; 0: the new line. */
  const back = useSignal(0);
  const recall = (step: number) => {
    const lines = pastLines(id);
    back.value = Math.min(Math.max(back.value + step, 0), lines.length);
    typed.value = back.value === 0 ? '' : (lines.at(-back.value) ?? '');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault();
      recall(event.key === 'ArrowUp' ? 1 : -1);
    } else if (event.key === 'Tab' && !event.shiftKey) {
      const [first] = completionsOf(commands, typed.value);
      if (first === undefined || typed.value === `${first.name} `) return;
      event.preventDefault();
      typed.value = `${first.name} `;
    } else if (event.key === 'l' && event.ctrlKey) {
      event.preventDefault();
      lineSession(id).exchanges.value = [];
    }
  };
  return (
    <form
      class="line-field"
      onSubmit={(event) => {
        event.preventDefault();
        back.value = 0;
        if (typed.value.trim() !== '') onSubmit(typed.value);
      }}
    >
      <span class="mono muted" aria-hidden="true">
        {prompt}
      </span>
      <input
        ref={field as { current: HTMLInputElement | null }}
        class="mono"
        aria-label="Command"
        value={typed.value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => {
          back.value = 0;
          typed.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button">
        Run
      </button>
    </form>
  );
}

function Help({ typed, commands, field }: Pick<LineFieldProps, 'typed' | 'commands' | 'field'>) {
  const found = completionsOf(commands, typed.value);
  const command = commandOf(commands, typed.value);
  return (
    <div class="line-help">
      <div class="row">
        {found.map(({ name }) => (
          <SmallButton
            key={name}
            onClick={() => {
              typed.value = `${name} `;
              field.current?.focus();
            }}
          >
            {name}
          </SmallButton>
        ))}
      </div>
      {command !== undefined && (
        <p class="small muted">
          <strong>{command.name}</strong>: {command.summary} (
          {[wordsTold(command.words), command.group].filter(Boolean).join(', ')})
        </p>
      )}
    </div>
  );
}
