/** Export of a part as a file of JSON lines, and import of such a file. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { mayChangeIndexes } from '../../api/session.js';
import { Button } from '../../parts/button.js';
import { counted } from '../../parts/format.js';
import { failed, said } from '../../parts/toast.js';
import { usePartName } from './content.js';
import { type IndexContent, type IndexPlane, type IndexRecord, type Item, shownPart } from './plane.js';

/** The file is made in the memory of the browser. */
const MAX_EXPORTED = 100_000;
const EXPORT_PAGE = 500;
/** Below the smallest limit of a plan, and below the body of one request for vectors of 4,096 numbers. */
const IMPORT_BATCH = 100;

export interface ItemFilesProps {
  readonly plane: IndexPlane;
  readonly database: IndexRecord;
  readonly content: Partial<IndexContent>;
  onStored(): void;
}

export function ItemFiles(props: ItemFilesProps) {
  const { progress, exportAll, importAll } = useFiles(props);
  const isBusy = progress !== undefined;
  return (
    <>
      {isBusy && (
        <span class="small muted" role="status">
          {progress}
        </span>
      )}
      <Button disabled={isBusy} onClick={exportAll}>
        Export
      </Button>
      {mayChangeIndexes.value && <ImportButton isBusy={isBusy} onText={importAll} />}
    </>
  );
}

interface ImportButtonProps {
  readonly isBusy: boolean;
  onText(text: string): Promise<void>;
}

function ImportButton({ isBusy, onText }: ImportButtonProps) {
  const file = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button disabled={isBusy} onClick={() => file.current?.click()}>
        Import
      </Button>
      <input
        ref={file}
        type="file"
        hidden
        aria-label="File to import"
        accept=".jsonl,.ndjson,.json"
        onChange={async ({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? [];
          if (chosen !== undefined) await onText(await chosen.text());
          currentTarget.value = '';
        }}
      />
    </>
  );
}

/** @returns both works, and the progress of the one that runs */
function useFiles({ plane, database, content, onStored }: ItemFilesProps) {
  const part = usePartName(plane, content);
  const progress = useSignal<string | undefined>(undefined);
  const tell = (done: number) => {
    progress.value = counted(done, plane.item);
  };
  const during = async (work: () => Promise<void>) => {
    tell(0);
    try {
      await work();
    } catch (error) {
      failed(error);
    } finally {
      progress.value = undefined;
    }
  };
  const exportAll = () =>
    during(async () => {
      const { lines, isCut } = await linesOf(plane, database.id, part, tell);
      download(`${database.name}-${shownPart(part)}.jsonl`, lines);
      said(isCut ? `The file has the first ${lines.length}: an export ends there` : `The file has ${lines.length}`);
    });
  const importAll = (text: string) =>
    during(async () => {
      const items = parsedLines(text);
      for (let at = 0; at < items.length; at += IMPORT_BATCH) {
        await plane.store(database.id, part, items.slice(at, at + IMPORT_BATCH));
        tell(Math.min(at + IMPORT_BATCH, items.length));
      }
      said(`${counted(items.length, plane.item)} stored`);
      onStored();
    });
  return { progress: progress.value, exportAll, importAll };
}

async function linesOf(plane: IndexPlane, id: string, part: string, tell: (done: number) => void) {
  const lines: string[] = [];
  let cursor = plane.firstCursor;
  do {
    const page = await plane.range(id, part, { cursor, limit: EXPORT_PAGE, includeVectors: true });
    for (const item of page.vectors) lines.push(JSON.stringify(item));
    tell(lines.length);
    cursor = page.nextCursor;
  } while (cursor !== '' && lines.length < MAX_EXPORTED);
  return { lines, isCut: cursor !== '' };
}

function download(name: string, lines: readonly string[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob(
      lines.map((line) => `${line}\n`),
      { type: 'application/x-ndjson' },
    ),
  );
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** @throws Error that names the line */
function parsedLines(text: string): Item[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as Item];
    } catch {
      throw new Error(`Line ${at + 1} is no JSON: the file is not stored`);
    }
  });
}
