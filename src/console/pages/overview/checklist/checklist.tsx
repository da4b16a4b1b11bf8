/** The checklist of a new installation, until all steps are done or it is dismissed. */
import { type Signal, useSignal } from '@preact/signals';
import { mayUseData } from '../../../api/session.js';
import { readStored, writeStored } from '../../../api/stored.js';
import { SmallButton } from '../../../parts/button.js';
import { Code } from '../../../parts/code.js';
import { CodeText } from '../../../parts/code-text.js';
import { Icon } from '../../../parts/icon.js';
import { setter } from '../../../parts/setter.js';
import type { Overview } from '../overview-data.js';
import { doneSteps, type FirstStep, STEPS, type StepId, useFirsts, useQueueAccount } from './steps.js';

const DISMISSED = 'millrace-checklist-dismissed';
const LANGUAGE = 'millrace-checklist-language';

export function Checklist({ overview }: { readonly overview: Overview }) {
  const isDismissed = useSignal(readStored(DISMISSED, isFlag) === true);
  const language = useSignal(readStored(LANGUAGE, isText) ?? STEPS[0]?.snippets[0]?.label ?? '');
  const opened = useSignal<StepId | undefined>(undefined);
  const isShown = mayUseData.value && !isDismissed.value;
  const { data } = useFirsts(useQueueAccount(isShown));
  if (!isShown || data === undefined) return null;
  const done = doneSteps(overview, data);
  if (done.size === STEPS.length) return null;
  const dismiss = () => {
    isDismissed.value = true;
    writeStored(DISMISSED, true);
  };
  const open = opened.value ?? STEPS.find(({ id }) => !done.has(id))?.id;
  return (
    <section class="card checklist" aria-label="First steps">
      <div class="row between">
        <h2>First steps</h2>
        <div class="row">
          <span class="muted small" role="status">{`${done.size} of ${STEPS.length} done`}</span>
          <SmallButton onClick={dismiss}>Dismiss</SmallButton>
        </div>
      </div>
      <ol class="plain-list">
        {STEPS.map((step, at) => (
          <li key={step.id} class={done.has(step.id) ? 'is-done' : ''}>
            <button
              type="button"
              class="checklist-step"
              aria-expanded={open === step.id}
              onClick={setter(opened, step.id)}
            >
              <span class="checklist-mark">{done.has(step.id) ? <Icon name="check" /> : at + 1}</span>
              <span class="grow">{step.title}</span>
              {done.has(step.id) && <span class="visually-hidden">done</span>}
            </button>
            {open === step.id && <StepDetails step={step} language={language} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface StepDetailsProps {
  readonly step: FirstStep;
  /** The label of the chosen snippet, the same for all steps. */
  readonly language: Signal<string>;
}

function StepDetails({ step: { title, about, page, snippets }, language }: StepDetailsProps) {
  const shown = snippets.find(({ label }) => label === language.value) ?? snippets[0];
  return (
    <div class="stack tight checklist-details">
      <p class="muted">
        <CodeText text={about} /> <a href={`/docs/${page}.html`}>More in the documentation</a>
      </p>
      <fieldset class="choices">
        <legend class="visually-hidden">{`Language of the example: ${title}`}</legend>
        {snippets.map(({ label }) => (
          <SmallButton
            key={label}
            aria-pressed={label === shown?.label}
            onClick={() => {
              language.value = label;
              writeStored(LANGUAGE, label);
            }}
          >
            {label}
          </SmallButton>
        ))}
      </fieldset>
      <Code text={shown?.source ?? ''} />
      <p class="small muted">
        <CodeText
          text={
            'Addresses and tokens are in the variables of `eval "$(millrace env)"`, run in the clone or on the server.'
          }
        />
      </p>
    </div>
  );
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
