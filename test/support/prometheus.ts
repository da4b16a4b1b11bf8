/** Debian's Prometheus. It scrapes one process each second into its own directory. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { temporaryDirectory } from './millrace-process.js';

interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly lastError?: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export class Prometheus {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  /** @param target `host:port` of a metrics port. `endEverything` removes the directory */
  static async scraping(target: string, rules: string): Promise<Prometheus> {
    const directory = await temporaryDirectory();
    const file = join(directory, 'prometheus.yml');
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [resolve(rules)],
      scrape_configs: [{ job_name: 'millrace', static_configs: [{ targets: [target] }] }],
    };
    // JSON is valid YAML.
    await writeFile(file, JSON.stringify(config));
    const listen = `127.0.0.1:${await freePort()}`;
    const options = [`--config.file=${file}`, `--storage.tsdb.path=${directory}`, `--web.listen-address=${listen}`];
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'prometheus', ...options], { stdio: 'ignore' });
    return new Prometheus(child, `http://${listen}`);
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }

  /** Resolves after this number of successful scrapes. */
  async scraped(times: number): Promise<void> {
    await eventually(async () => {
      const [found] = await this.query('sum(sum_over_time(up[10m]))');
      if (found === undefined || found < times) throw new Error(`${found ?? 0} scrapes`);
    });
  }

  /** @returns a value for each series. @throws with the error of the expression */
  async query(expression: string): Promise<readonly number[]> {
    const result = await this.#ask(`query?query=${encodeURIComponent(expression)}`);
    return (result as { result: { value: [number, string] }[] }).result.map(({ value }) => Number(value[1]));
  }

  async rules(): Promise<readonly Rule[]> {
    const { groups } = (await this.#ask('rules')) as { groups: { rules: Rule[] }[] };
    return groups.flatMap(({ rules }) => rules);
  }

  async #ask(question: string): Promise<unknown> {
    const answer = await fetch(`${this.url}/api/v1/${question}`);
    const { status, error, data } = (await answer.json()) as { status: string; error?: string; data: unknown };
    if (status !== 'success') throw new Error(error);
    return data;
  }
}

/** The problems that promtool finds in a metrics page; empty if there is none. */
export function problemsOfMetrics(page: string): string {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: page,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return status === 0 ? '' : `exit status ${status}: ${stdout}${stderr}`;
}
