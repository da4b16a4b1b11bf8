/** A REST pipeline; its answer is read at a chosen speed. */
import { once } from 'node:events';
import http from 'node:http';

/** An element of a pipeline's answer. */
export type Element = { readonly result?: unknown; readonly error?: string };

export interface SlowReaderOptions {
  readonly token: string;
  readonly headers?: http.OutgoingHttpHeaders;
}

export class SlowReader {
  text = '';
  isWhole = false;

  private constructor(readonly response: http.IncomingMessage) {
    response.setEncoding('latin1');
    response.on('end', () => {
      this.isWhole = true;
    });
    // The waiting read reports the error.
    response.on('error', () => undefined);
  }

  static async of(
    port: number,
    commands: readonly unknown[],
    { token, headers = {} }: SlowReaderOptions,
  ): Promise<SlowReader> {
    const all = { authorization: `Bearer ${token}`, ...headers };
    const request = http.request({ host: '127.0.0.1', port, path: '/pipeline', method: 'POST', headers: all });
    request.on('error', () => undefined);
    request.end(JSON.stringify(commands));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return new SlowReader(response);
  }

  async read(characters: number): Promise<void> {
    const until = this.text.length + characters;
    for (;;) {
      const chunk = this.response.read() as string | null;
      if (chunk !== null) this.text += chunk;
      if (this.text.length >= until || this.isWhole) return;
      if (chunk === null) await this.#more();
    }
  }

  #more(): Promise<void> {
    const { response } = this;
    return new Promise((resolve) => {
      const goOn = () => {
        response.off('readable', goOn).off('end', goOn).off('close', goOn);
        resolve();
      };
      response.on('readable', goOn).on('end', goOn).on('close', goOn);
    });
  }

  async readAll(): Promise<Element[]> {
    await this.read(Number.POSITIVE_INFINITY);
    return JSON.parse(this.text) as Element[];
  }

  leave(): void {
    this.response.destroy();
  }
}
