/** The keys of results in rankings: a QA pair's id, or a document's id and a position in it. */

export function pairKey(id: string): string {
  return id;
}

export function chunkKey(document_id: string, position: number): string {
  return `${document_id}/${position}`;
}

/** Returns undefined for the key of a QA pair. */
export function readChunkKey(key: string): { document_id: string; position: number } | undefined {
  const [document_id = "", position] = key.split("/");
  return position === undefined ? undefined : { document_id, position: Number(position) };
}
