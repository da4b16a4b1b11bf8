/**
 * Delivers lists of entries to an endpoint for a trial run: with headers, signature and body of the run's deliveries, and
 * without an effect on the run. Calls go through the client of deliveries, with its rules on addresses and its limits.
 */
import { webcrypto } from 'node:crypto';
import { type DeliveredHeaders, type Envelope, newMessageId } from '../../../domain/queue/index.js';
import { NO_MARK, recordedEnvelope } from '../../../domain/queue/runs/index.js';
import { type AccountId, bufferOver, type MessageId } from '../../../kernel/index.js';
import type { Clock, DeliverySigner, HttpOut, Random, TrialRuns } from '../../../ports/index.js';
import type { Play } from './guard.js';

export interface TrialPorts {
  readonly http: Pick<HttpOut, 'send'>;
  readonly signer: DeliverySigner;
  readonly headers: DeliveredHeaders;
  readonly trials: TrialRuns;
  readonly clock: Clock;
  readonly random: Random;
}

export interface PlayedRun {
  readonly account: AccountId;
  readonly createdAtMs: number;
  /** Of the recorded run, with the URL of the checked endpoint. */
  readonly envelope: Envelope;
}

/** The endpoint runs its function up to one step, and makes one request to this server. */
const PLAY_TIMEOUT_MS = 10_000;
/** An error with its stack; longer answers are cut. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Tells code of the endpoint that its effects are not wanted. */
const CHECK_HEADER = ['Svc-Check', 'true'] as const;

export class TrialPlayer {
  readonly #envelope: Envelope;
  readonly #texts = new Map<Uint8Array, { readonly id: MessageId; readonly text: string }>();

  constructor(
    private readonly ports: TrialPorts,
    private readonly run: PlayedRun,
    private readonly signal: AbortSignal,
  ) {
    const { envelope } = run;
    const recorded = recordedEnvelope({
      shared: { envelope: { ...envelope, workflow: envelope.workflow ?? NO_MARK } },
    });
    const { settings } = recorded;
    this.#envelope = { ...recorded, settings: { ...settings, header: [...settings.header, CHECK_HEADER] } };
  }

  /** @param entries the payload and records of steps */
  async play(entries: readonly Uint8Array[]): Promise<Play> {
    const trial = this.ports.trials.begin(this.run.account);
    try {
      const shown = entries.map((entry) => this.#shown(entry));
      const body = Buffer.from(`[${shown.map(({ text }) => text).join(',')}]`, 'latin1');
      const bodyHash = Buffer.from(await webcrypto.subtle.digest('SHA-256', body)).toString('base64url');
      const { headers, http } = this.ports;
      const { url } = this.#envelope;
      const signatures = this.#signatures(body, bodyHash);
      if (signatures === undefined) return failed('signing keys are not available right now');
      const { runId, requests } = trial;
      const { createdAtMs: runCreatedAtMs, account: tenant } = this.run;
      const part = { role: 'step', runId, runCreatedAtMs, index: entries.length - 1, step: undefined } as const;
      const messageId = shown.at(-1)?.id as MessageId;
      const outcome = await http.send({
        url,
        tenant,
        method: 'POST',
        headers: headers.of(this.#envelope, { messageId, retried: 0, signatures, part }),
        body,
        timeoutMs: PLAY_TIMEOUT_MS,
        maxResponseBytes: MAX_ANSWER_BYTES,
        signal: this.signal,
      });
      if (outcome.kind === 'no-response') return failed(`the endpoint did not answer: ${outcome.error}`);
      if (outcome.kind !== 'response') return failed('the time of the check was over');
      const text = Buffer.from(outcome.body).toString('utf8');
      return { status: outcome.status, text, requests, isOfOtherAccount: trial.isOfOtherAccount };
    } finally {
      trial.end();
    }
  }

  #signatures(body: Uint8Array, bodyHash: string): readonly string[] | undefined {
    const { headers, signer, clock } = this.ports;
    const { account } = this.run;
    const { url } = this.#envelope;
    const signatures: string[] = [];
    for (const issuer of headers.wordsFor(this.#envelope, { role: 'step' })) {
      const signature = signer.sign({ account, url, body, bodyHash, nowMs: clock.nowMs(), issuer });
      if (signature === undefined) return undefined;
      signatures.push(signature);
    }
    return signatures;
  }

  /** An entry as it is sent; most lists of a run begin with the same entries. */
  #shown(entry: Uint8Array): { readonly id: MessageId; readonly text: string } {
    const known = this.#texts.get(entry);
    if (known !== undefined) return known;
    const id = newMessageId(this.ports.random, this.ports.clock.nowMs());
    const base64 = bufferOver(entry).toString('base64');
    const shown = { id, text: `{"messageId":"${id}","body":"${base64}","callType":"step"}` };
    this.#texts.set(entry, shown);
    return shown;
  }
}

function failed(text: string): Play {
  return { status: 0, text, requests: [], isOfOtherAccount: false };
}
